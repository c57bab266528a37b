package format

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/warc"
	"seine/internal/page/mediatype"
	"seine/pkg/messages"
)

// archive is WARC 1.1: of each page a request, a response and a metadata record,
// concurrent to one another; and the same of each answer that is no page.
//
// The response of a page that was not archived is not known: the bytes that came
// are gone, and so are cookies and hop-by-hop fields. It is written as what the
// specification has for that, a resource (section 6.4: "the result of a networked
// retrieval where the protocol information has been discarded"), with the body as
// the site meant it; and what is known of the header goes to the metadata record.
//
// A file is whole by itself: a revisit refers only to a record before it in the
// same file. So files can be moved, sent and dropped one by one, a chunk that is
// made again after a crash is the same, and what is remembered is bounded by the
// chunk. The price is that a page found again in a later file is stored again.
type archive struct{ code *warc.Compression }

func (a archive) Ext() string { return a.code.Ext }

// ArchiveBytes is the size, before compression, at which a file of an archive is finished: 1 GB is what tools and
// archives are used to.
const ArchiveBytes = 1 << 30

func (a archive) NewEncoder(w io.Writer, g output.Group) (Encoder, error) {
	return &archiver{w: warc.NewWriter(w, a.code), group: g, seen: make(map[[sha256.Size]byte]capture), pages: make(map[string]capture)}, nil
}

// archiver writes one WARC file.
type archiver struct {
	w     *warc.Writer
	group output.Group
	file  string
	info  string // identifier of the warcinfo record
	seen  map[[sha256.Size]byte]capture
	pages map[string]capture // the last page of each request, for answers that it has not changed
	index warc.Index
}

// capture is a record that a revisit may refer to.
type capture struct {
	id, url string
	date    time.Time
}

// leastRevisit is the size from which a payload is not stored twice: below, a
// revisit's own fields take as much.
const leastRevisit = 256

// SetName implements Named. What is encrypted is read under the name that it has then.
func (a *archiver) SetName(file string) { a.file = ageencrypt.PlainName(file) }

// Raw implements Measured.
func (a *archiver) Raw() int64 { return a.w.Raw() }

// IndexExt implements Indexer.
func (*archiver) IndexExt() string { return warc.IndexExt }

// WriteIndex implements Indexer.
func (a *archiver) WriteIndex(w io.Writer, file string) error { return a.index.Write(w, file) }

// Close implements Encoder.
func (a *archiver) Close() error { return a.w.Close() }

// Append implements Encoder.
func (a *archiver) Append(r *Record) error {
	x, err := newExchange(r)
	if err != nil {
		return &RefusedError{err}
	}
	if err := a.begin(r, x); err != nil {
		return err
	}
	if err := a.request(x); err != nil {
		return err
	}
	if err := a.response(x); err != nil {
		return err
	}
	return a.metadata(x)
}

// exchange is a page about to be written.
type exchange struct {
	*Page
	target  string // the URL that was asked for, as it was on the wire
	view    string // what target begins with, "" unless a browser has made this
	method  string // of the request, "" of a GET
	query   string // what the request's body is in an index
	id      func(kind string) string
	head    []byte // as it is written
	sums    warc.Sums
	mainID  string // of the response, resource or revisit
	payload func() (io.ReadCloser, error)
}

// newExchange reads the body for the first time: its digests go before it. What
// is wrong with the body shows here, before anything is written of the page.
func newExchange(r *Record) (*exchange, error) {
	if r.Page == nil {
		return nil, fmt.Errorf("record %s is not a page", r.ID)
	}
	x := &exchange{Page: r.Page, target: cmp.Or(r.Page.Asked, r.Page.URL), payload: r.Page.Body}
	x.view = views[r.Page.Part]
	if r.Page.Rendered != "" && r.Page.Part == "" {
		x.view = "urn:dom:"
	}
	if x.view == "" {
		x.target = weburl.CutRoute(x.target)
	}
	x.readRequest()
	x.target = x.view + x.target
	if x.Wire != nil {
		x.payload, x.head = x.Wire, archivedHead(x.Head)
	}
	// The same URL may be visited by crawls of one name elsewhere: what tells this
	// fetch from all others is when and where it was made.
	x.id = func(kind string) string {
		return warc.ID(kind, r.ID, strconv.Itoa(x.Attempt), x.FetchedAt.UTC().Format(time.RFC3339Nano), x.IP)
	}
	in, err := x.payload()
	if err != nil {
		return nil, err
	}
	x.sums, err = warc.Sum(x.head, in)
	if cerr := in.Close(); err == nil {
		err = cerr
	}
	return x, err
}

// views begin the URIs of what a browser has made of a page, as other archivers have it. The page under its own URL is the
// document as received, which replays with its scripts.
var views = map[messages.Part]string{
	messages.PartScreenshot: "urn:view:", messages.PartPDF: "urn:pdf:", messages.PartCapture: "urn:capture:",
}

// archivedHead returns the head of a response as it is written. The field that says how its body was framed is
// renamed, as other archivers do: bodies are kept without that, and a reader would look for chunks that are not
// there. All lines end in CRLF: readers look for the body behind an empty line that does.
func archivedHead(head []byte) []byte {
	var out []byte
	for line := range bytes.Lines(head) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if strings.EqualFold(string(bytes.TrimSpace(name)), "transfer-encoding") {
			out = append(out, "X-Orig-"...)
		}
		out = append(append(out, bytes.TrimRight(line, "\r\n")...), "\r\n"...)
	}
	return out
}

// begin writes the record that a file begins with. It waits for the first page,
// so that it depends on nothing but that: the file is the same when it is made
// again.
func (a *archiver) begin(r *Record, x *exchange) error {
	if a.info != "" {
		return nil
	}
	a.info = warc.ID(warc.TypeInfo, a.file, x.id(warc.TypeInfo))
	block := warc.Fields(a.infoFields(x))
	h := &warc.Header{
		Type: warc.TypeInfo, ID: a.info, Date: r.Stored, ContentType: warc.ContentFields,
		More: []warc.Field{{Name: "WARC-Filename", Value: a.file}},
	}
	_, err := a.write(h, block)
	return err
}

// write writes a record whose block is small.
func (a *archiver) write(h *warc.Header, block []byte) (warc.Extent, error) {
	h.Length, h.BlockDigest = int64(len(block)), warc.Digest(block)
	return a.w.Write(h, bytes.NewReader(block))
}

// header is what all records of a page have.
func (a *archiver) header(x *exchange, kind string) *warc.Header {
	return &warc.Header{
		Type: kind, ID: x.id(kind), Date: x.FetchedAt, TargetURI: x.target,
		More: []warc.Field{{Name: "WARC-Warcinfo-ID", Value: a.info}},
	}
}

func (a *archiver) request(x *exchange) error {
	if len(x.Request) == 0 {
		return nil
	}
	h := a.header(x, warc.TypeRequest)
	h.ContentType = warc.ContentRequest
	h.More = append(h.More, x.network()...)
	h.More = append(h.More, warc.Field{Name: "WARC-Concurrent-To", Value: x.id(a.kind(x))})
	_, err := a.write(h, x.Request)
	return err
}

// network says where a page came from, and how.
func (x *exchange) network() []warc.Field {
	return []warc.Field{{Name: "WARC-IP-Address", Value: x.IP}, {Name: "WARC-Protocol", Value: protocol(x.target, x.Protocol)}}
}

// protocol returns the value of WARC-Protocol, a field that many tools write
// before it is in the standard
// (https://github.com/iipc/warc-specifications/issues/42).
func protocol(url, version string) string {
	switch {
	case version == "HTTP/2.0" && strings.HasPrefix(url, "http:"):
		return "h2c"
	case version == "HTTP/2.0":
		return "h2"
	}
	return strings.ToLower(version)
}

// kind returns the type of the record that the page itself will be.
func (a *archiver) kind(x *exchange) string {
	_, same := a.seen[x.sums.Same]
	switch {
	case x.Class == messages.NotModified, same && x.sums.Length >= leastRevisit && x.Truncated == "":
		return warc.TypeRevisit
	case x.head == nil:
		return warc.TypeResource
	}
	return warc.TypeResponse
}

// response writes the page itself, and remembers and indexes it.
func (a *archiver) response(x *exchange) error {
	kind := a.kind(x)
	h := a.header(x, kind)
	x.mainID = h.ID
	h.ContentType = warc.ContentResponse
	if x.head == nil {
		h.ContentType = oneType(x.ContentType)
	}
	h.More = append(h.More, x.network()...)
	c := warc.Capture{
		URL: x.target, Method: x.method, Query: x.query, Date: x.FetchedAt, MIME: mediatype.Declared(x.ContentType), Status: x.Status, Digest: x.sums.Payload,
	}
	if x.Class == messages.NotModified {
		c.Digest = "" // its payload is that of the page, which is unknown here
	}
	h.More = append(h.More, warc.Field{Name: "WARC-Payload-Digest", Value: c.Digest}, warc.Field{Name: "WARC-Truncated", Value: string(x.Truncated)})
	var err error
	switch {
	case x.Class == messages.NotModified:
		c.MIME = warc.MIMERevisit
		c.Extent, err = a.notModified(x, h, c.Asked())
	case kind == warc.TypeRevisit:
		c.MIME = warc.MIMERevisit
		c.Extent, err = a.revisit(x, h)
	default:
		c.Extent, err = a.whole(x, h)
	}
	if err != nil {
		return err
	}
	a.remember(x, h, kind, c.Asked())
	a.index.Add(c)
	return nil
}

// remember keeps what later records may refer to. What was cut is not what the site
// sent: another that begins alike may end otherwise.
func (a *archiver) remember(x *exchange, h *warc.Header, kind, asked string) {
	c := capture{id: h.ID, url: x.target, date: x.FetchedAt}
	if kind != warc.TypeRevisit && x.Truncated == "" {
		a.seen[x.sums.Same] = c
	}
	if !x.IsAnswer() {
		a.pages[asked] = a.seen[x.sums.Same] // where its body is
	}
}

func oneType(contentType string) string {
	if contentType == "" {
		return "application/octet-stream"
	}
	return contentType
}

// whole writes the page with its body, which is read for the second time.
func (a *archiver) whole(x *exchange, h *warc.Header) (warc.Extent, error) {
	in, err := x.payload()
	if err != nil {
		return warc.Extent{}, err
	}
	h.Length, h.BlockDigest = int64(len(x.head))+x.sums.Length, x.sums.Block
	// An object that was replaced between the two readings is not what its header
	// says: then the chunk is abandoned, and made again.
	again := sha256.New()
	at, err := a.w.Write(h, io.MultiReader(bytes.NewReader(x.head), io.TeeReader(in, again)))
	if cerr := in.Close(); err == nil {
		err = cerr
	}
	if err == nil && [sha256.Size]byte(again.Sum(nil)) != x.sums.Same {
		err = fmt.Errorf("the body of %s changed while it was written", x.target)
	}
	return at, err
}

// revisit writes the page without its body, which is in an earlier record.
func (a *archiver) revisit(x *exchange, h *warc.Header) (warc.Extent, error) {
	o := a.seen[x.sums.Same]
	h.More = append(h.More, warc.Field{Name: "WARC-Profile", Value: warc.IdenticalPayload})
	h.More = append(h.More, o.referredTo()...)
	h.More = append(h.More, warc.Field{Name: "WARC-Truncated", Value: string(messages.TruncatedLength)})
	return a.write(h, x.head)
}

// referredTo says which record a revisit is of.
func (c *capture) referredTo() []warc.Field {
	return []warc.Field{
		{Name: "WARC-Refers-To", Value: c.id},
		{Name: "WARC-Refers-To-Target-URI", Value: c.url},
		{Name: "WARC-Refers-To-Date", Value: warc.Date(c.date)},
	}
}

// notModified writes the answer that a page has not changed, section 6.7.3. The page is
// in another file as a rule, and when it was fetched is known only of this one: a date
// that is not that of the record would lead nowhere.
func (a *archiver) notModified(x *exchange, h *warc.Header, asked string) (warc.Extent, error) {
	h.More = append(h.More, warc.Field{Name: "WARC-Profile", Value: warc.NotModified})
	if o, ok := a.pages[asked]; ok {
		h.More = append(h.More, o.referredTo()...)
	} else {
		h.More = append(h.More, warc.Field{Name: "WARC-Refers-To-Target-URI", Value: x.target})
	}
	return a.write(h, x.head)
}

// metadata writes how the page was found and fetched. The first three fields are
// those of section 6.6; "seed" is Heritrix's. A redirect on the way is no hop
// here, as it is none in a page's depth.
func (a *archiver) metadata(x *exchange) error {
	h := a.header(x, warc.TypeMetadata)
	h.ContentType = warc.ContentFields
	h.More = append(h.More, warc.Field{Name: "WARC-Concurrent-To", Value: x.mainID}, warc.Field{Name: "WARC-Refers-To", Value: x.mainID})
	var fields []warc.Field
	if x.Depth == 0 && x.Referrer == "" {
		fields = append(fields, warc.Field{Name: "seed"})
	}
	hops := strings.Repeat("L", x.Depth)
	switch { // in the words of Heritrix
	case x.Class == messages.RobotsFetched:
		hops += "P" // a prerequisite of the page
	case x.Part == messages.PartRequisite:
		hops += "E" // embedded in it
	}
	fields = append(fields, warc.Field{Name: "hopsFromSeed", Value: hops})
	add := func(name, value string) {
		if value != "" && value != "0" {
			fields = append(fields, warc.Field{Name: name, Value: value})
		}
	}
	add("via", x.Referrer)
	add("class", string(x.Class))
	add("fetchTimeMs", ms(x.Timings.Total))
	add("dnsTimeMs", ms(x.Timings.DNS))
	add("connectTimeMs", ms(x.Timings.Connect))
	add("tlsTimeMs", ms(x.Timings.TLS))
	add("firstByteTimeMs", ms(x.Timings.FirstByte))
	add("crawl", x.Crawl)
	add("visit", x.Visit.String())
	add("attempt", strconv.Itoa(x.Attempt))
	if len(x.Metadata) > 0 {
		text, err := json.Marshal(x.Metadata) // in the order of the names
		if err != nil {
			return fmt.Errorf("encode metadata of the seed: %w", err)
		}
		add("seedMetadata", string(text))
	}
	if x.head == nil {
		fields = append(fields, x.known()...)
	}
	_, err := a.write(h, warc.Fields(fields))
	return err
}

func ms(d messages.Millis) string { return strconv.FormatInt(time.Duration(d).Milliseconds(), 10) }

// known says what is known of a response that has no record.
func (x *exchange) known() []warc.Field {
	fields := []warc.Field{{Name: "httpStatus", Value: strconv.Itoa(x.Status)}}
	for _, name := range slices.Sorted(maps.Keys(x.Header)) {
		for _, v := range x.Header[name] {
			fields = append(fields, warc.Field{Name: "httpHeader", Value: name + ": " + v})
		}
	}
	return fields
}

var (
	_ Format   = archive{}
	_ Encoder  = (*archiver)(nil)
	_ Indexer  = (*archiver)(nil)
	_ Named    = (*archiver)(nil)
	_ Measured = (*archiver)(nil)
)
