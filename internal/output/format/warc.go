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

// archive is WARC 1.1. For each page, and for each response that is not a page, it has a request, a
// response and a metadata record, which are concurrent to one another.
//
// The response of a page that was not archived is unknown: the received bytes, cookies and
// hop-by-hop fields are lost. It is written as a resource (section 6.4: "the result of a networked
// retrieval where the protocol information has been discarded"), with the decoded body. The known
// header fields go to the metadata record.
//
// Files are self-contained: a revisit refers only to an earlier record in the same file. So files
// can be moved, sent and dropped one by one, a chunk that is rewritten after a crash is identical,
// and the remembered state is bounded by the chunk. The price is that a page found again in a later
// file is stored again.
type archive struct{ code *warc.Compression }

func (a archive) Ext() string { return a.code.Ext }

// ArchiveBytes is the size, before compression, at which an archive file is finished: 1 GB is usual
// for tools and archives.
const ArchiveBytes = 1 << 30

func (a archive) NewEncoder(w io.Writer, g output.Group) (Encoder, error) {
	return &archiver{w: warc.NewWriter(w, a.code), group: g, seen: make(map[[sha256.Size]byte]capture), pages: make(map[string]capture)}, nil
}

// archiver writes one WARC file.
type archiver struct {
	w     *warc.Writer
	group output.Group
	file  string
	info  string // ID of the warcinfo record
	seen  map[[sha256.Size]byte]capture
	pages map[string]capture // the last page of each request, for "not modified" responses
	index warc.Index
}

// capture is a record that a revisit may refer to.
type capture struct {
	id, url string
	date    time.Time
}

// leastRevisit is the payload size from which a repeated payload becomes a revisit: the fields of a
// revisit take about as much.
const leastRevisit = 256

// SetName implements Named. An encrypted file is read under its decrypted name.
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

// exchange is a page to be written.
type exchange struct {
	*Page
	target  string // the requested URL, as it was on the wire
	view    string // prefix of target; "" unless a browser made this content
	method  string // method of the request, "" for GET
	query   string // encoding of the request's body for the index
	id      func(kind string) string
	head    []byte // as written
	sums    warc.Sums
	mainID  string // ID of the response, resource or revisit
	payload func() (io.ReadCloser, error)
}

// newExchange reads the body for the first time, to compute the digests that precede it. Faults of
// the body appear here, before anything of the page is written.
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
	// Crawls of the same name elsewhere may visit the same URL. The time and the server's address
	// distinguish this fetch.
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

// views are the prefixes of the URIs of content that a browser made of a page, as in other
// archivers. The record of the page's own URL is the document as received, which replays with its
// scripts.
var views = map[messages.Part]string{
	messages.PartScreenshot: "urn:view:", messages.PartPDF: "urn:pdf:", messages.PartCapture: "urn:capture:",
}

// archivedHead returns the head of a response in the form that is written. It renames
// Transfer-Encoding, as other archivers do: bodies are stored without their framing, and a reader
// would look for chunks. All lines end in CRLF, since readers look for an empty line with CRLF
// before the body.
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

// begin writes the first record of a file. It waits for the first page and depends only on that, so
// a rewritten file is identical.
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

// write writes a record with a small block.
func (a *archiver) write(h *warc.Header, block []byte) (warc.Extent, error) {
	h.Length, h.BlockDigest = int64(len(block)), warc.Digest(block)
	return a.w.Write(h, bytes.NewReader(block))
}

// header returns the fields that all records of a page have.
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

// network returns the fields for the IP address and the protocol of a page.
func (x *exchange) network() []warc.Field {
	return []warc.Field{{Name: "WARC-IP-Address", Value: x.IP}, {Name: "WARC-Protocol", Value: protocol(x.target, x.Protocol)}}
}

// protocol returns the value of WARC-Protocol, a field that many tools write although it is not in
// the standard yet (https://github.com/iipc/warc-specifications/issues/42).
func protocol(url, version string) string {
	switch {
	case version == "HTTP/2.0" && strings.HasPrefix(url, "http:"):
		return "h2c"
	case version == "HTTP/2.0":
		return "h2"
	}
	return strings.ToLower(version)
}

// kind returns the type of the main record of a page.
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

// response writes, remembers and indexes the main record of a page.
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
		c.Digest = "" // the payload is the page's, which is unknown here
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

// remember keeps what later records may refer to. It skips truncated payloads: another payload may
// begin alike and end otherwise.
func (a *archiver) remember(x *exchange, h *warc.Header, kind, asked string) {
	c := capture{id: h.ID, url: x.target, date: x.FetchedAt}
	if kind != warc.TypeRevisit && x.Truncated == "" {
		a.seen[x.sums.Same] = c
	}
	if !x.IsAnswer() {
		a.pages[asked] = a.seen[x.sums.Same] // the record that has its body
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
	// An object that was replaced between the two reads does not match its header. Then the chunk
	// is abandoned and rewritten.
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

// referredTo returns the fields that identify the record a revisit refers to.
func (c *capture) referredTo() []warc.Field {
	return []warc.Field{
		{Name: "WARC-Refers-To", Value: c.id},
		{Name: "WARC-Refers-To-Target-URI", Value: c.url},
		{Name: "WARC-Refers-To-Date", Value: warc.Date(c.date)},
	}
}

// notModified writes a "not modified" response, section 6.7.3. The page is usually in another file;
// its date is known only if it is in this one. A date that does not match the record would lead
// nowhere.
func (a *archiver) notModified(x *exchange, h *warc.Header, asked string) (warc.Extent, error) {
	h.More = append(h.More, warc.Field{Name: "WARC-Profile", Value: warc.NotModified})
	if o, ok := a.pages[asked]; ok {
		h.More = append(h.More, o.referredTo()...)
	} else {
		h.More = append(h.More, warc.Field{Name: "WARC-Refers-To-Target-URI", Value: x.target})
	}
	return a.write(h, x.head)
}

// metadata writes how the page was found and fetched. The first three fields are those of section
// 6.6; "seed" is Heritrix's. As in a page's depth, redirects do not count as hops.
func (a *archiver) metadata(x *exchange) error {
	h := a.header(x, warc.TypeMetadata)
	h.ContentType = warc.ContentFields
	h.More = append(h.More, warc.Field{Name: "WARC-Concurrent-To", Value: x.mainID}, warc.Field{Name: "WARC-Refers-To", Value: x.mainID})
	var fields []warc.Field
	if x.Depth == 0 && x.Referrer == "" {
		fields = append(fields, warc.Field{Name: "seed"})
	}
	hops := strings.Repeat("L", x.Depth)
	switch { // Heritrix's letters
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

// known returns the known header fields of a response that was not archived.
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
