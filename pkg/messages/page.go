package messages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// HeaderPage is the header of a PAGES message that holds a Page as JSON. The
// payload is the body, encoded as the Page says.
const HeaderPage = "Seine-Page"

// BodyPage is the metadata of an object in BucketBodies that has the sequence in PAGES of the message that names it.
const BodyPage = "page"

// maxPageHeader bounds HeaderPage: NATS refuses headers over 64 KiB in all.
const maxPageHeader = 48 << 10

// BodyZstd marks a body that was compressed with Zstandard (RFC 8878).
const BodyZstd = "zstd"

// Page is the header of a message on PAGES: a response whose body was kept. Of an
// archived crawl, it is also that of an answer that is no page (SubjectAnswers).
type Page struct {
	V           int       `json:"v"`
	Crawl       string    `json:"crawl"`
	Rev         uint64    `json:"rev,omitempty"`
	URL         string    `json:"url"`
	Visit       Visit     `json:"visit"`
	Attempt     int       `json:"attempt"`
	Depth       int       `json:"depth"`
	Referrer    string    `json:"referrer,omitempty"`
	Run         int64     `json:"run,omitempty"`
	Status      int       `json:"status"`
	ContentType string    `json:"content_type,omitempty"` // the header as it came; sniffed if there is none
	FetchedAt   time.Time `json:"fetched_at"`
	// Header is the response header as received, but for the hop-by-hop fields and
	// cookies. All but HeaderRobots is left out when it would not fit.
	Header map[string][]string `json:"header,omitempty"`
	// BodyEncoding is "", BodyZstd, or the content codings (RFC 9110 8.4.1) that the body
	// came in, as in "gzip, br": the last is undone first. BodySize is the size decoded, in bytes.
	BodyEncoding string `json:"body_encoding,omitempty"`
	BodySize     int64  `json:"body_size"`
	// RequestSize and HeadSize are of an archived page: the payload begins with
	// the request as it was sent and the response up to its body as received, so
	// many bytes each. Secrets and cookies are left out of the request.
	RequestSize int `json:"request_size,omitempty"`
	HeadSize    int `json:"head_size,omitempty"`
	// IP is the address that the page came from, and Protocol the version of HTTP.
	IP       string `json:"ip,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	// Timings and Digest are those of the Result.
	Timings Timings `json:"timings,omitzero"`
	Digest  string  `json:"digest,omitempty"`
	// Unchanged says that the body has the bytes of the visit before.
	Unchanged bool `json:"unchanged,omitempty"`
	// Recorded is that of the Request.
	Recorded bool `json:"recorded,omitempty"`
	// Metadata and Inherit are those of the Request.
	Metadata Metadata `json:"metadata,omitempty"`
	Inherit  bool     `json:"inherit,omitempty"`
	// Sitemap is that of the Request.
	Sitemap bool `json:"sitemap,omitempty"`
	// BodyObject names the body in the object store BucketBodies, when it was
	// too large for the message.
	BodyObject string `json:"body_object,omitempty"`
	// Robots and Contact are those of the spec that an archived exchange was made
	// under: an archive says them of itself.
	Robots  string `json:"robots,omitempty"`
	Contact string `json:"contact,omitempty"`
	// Asked is the URL that an archived page was asked for in the end, where that is not
	// URL: redirects led there that the fetcher has followed.
	Asked string `json:"asked,omitempty"`
	// Rendered says why the page was shown in a browser, for a person, "" if it was not. Then the body is the document as its
	// scripts have made it.
	Rendered string `json:"rendered,omitempty"`
	// Cut says why a page that was to be rendered may be incomplete, for a person, "" if it is not: what was not waited for, or
	// why the body is the document as it was received.
	Cut string `json:"cut,omitempty"`
	// RenderProblems are what went wrong while the page was rendered.
	RenderProblems RenderProblems `json:"render_problems,omitempty"`
	// Part says which part of a rendered page it is.
	Part Part `json:"part,omitempty"`
	// Class is of an answer that is no page: how its request ended, RobotsFetched if it
	// was for a robots.txt. Its body is in the payload as received, or decoded where its
	// head says so.
	Class Class `json:"class,omitempty"`
	// Truncated says why the body of an answer is not all there.
	Truncated Truncation `json:"truncated,omitempty"`
}

// Part is what is kept of a rendered page beside the document that it has become.
type Part string

// Parts.
const (
	PartDocument  Part = "document"  // the document as it came, before it was rendered
	PartRequisite Part = "requisite" // what the page asked for while it was rendered

	PartScreenshot Part = "screenshot" // the page as a picture
	PartPDF        Part = "pdf"        // the page as it is printed

	// PartCapture is no answer, but a separate page: what a script of another page has requested. No visit ends with it.
	PartCapture Part = "capture"
)

var parts = []Part{"", PartDocument, PartRequisite, PartScreenshot, PartPDF, PartCapture}

// Truncation is why a body was cut, in the words of WARC 1.1, section 5.13.
type Truncation string

// Truncations.
const (
	TruncatedLength      Truncation = "length"      // longer than what is kept
	TruncatedTime        Truncation = "time"        // it took too long to come
	TruncatedDisconnect  Truncation = "disconnect"  // the connection ended
	TruncatedUnspecified Truncation = "unspecified" // it cannot be decoded any further
)

var truncations = []Truncation{"", TruncatedLength, TruncatedTime, TruncatedDisconnect, TruncatedUnspecified}

// Msg returns the message for partition p with the body as its payload. What does not fit of the header is left out
// of pg too.
func (pg *Page) Msg(p int, body []byte) *nats.Msg {
	id := VisitID(pg.Crawl, pg.Visit)
	if pg.Part == PartCapture { // its URL may be visited as well
		id += "." + string(PartCapture)
	}
	return pg.msg(SubjectPages(pg.Crawl, p), id, body)
}

// chainedSuffix ends the Nats-Msg-Id of a chained page. Without it JetStream would drop the page that a request
// brings whose fetcher died in the middle, and which the parser takes from its stream.
const chainedSuffix = ".chained"

// ChainedMsg returns a message of Msg as it is stored once a parser was handed it in memory.
func ChainedMsg(m *nats.Msg) *nats.Msg {
	c := &nats.Msg{Subject: withKind(m.Subject, KindOfChained), Header: maps.Clone(m.Header), Data: m.Data}
	c.Header.Set(nats.MsgIdHdr, m.Header.Get(nats.MsgIdHdr)+chainedSuffix)
	return c
}

// PageID returns what tells the page of a message of PAGES from others, by its header: chained or not, it is the
// same one.
func PageID(header nats.Header) string {
	return strings.TrimSuffix(header.Get(nats.MsgIdHdr), chainedSuffix)
}

// AnswerMsg is Msg of an answer that is no page, the nth one of its attempt. Those of
// robots.txt are counted apart: a request that is made again may find one in memory.
func (pg *Page) AnswerMsg(p, n int, body []byte) *nats.Msg {
	what := "answer"
	switch {
	case pg.Class == RobotsFetched:
		what = "robots"
	case pg.Part != "":
		what = string(pg.Part)
	}
	id := fmt.Sprintf("%s.%s.%d.%d", VisitID(pg.Crawl, pg.Visit), what, pg.Attempt, n)
	return pg.msg(SubjectAnswers(pg.Crawl, p), id, body)
}

func (pg *Page) msg(subject, id string, body []byte) *nats.Msg {
	pg.V, pg.Rendered, pg.Cut = Version, Clip(pg.Rendered), Clip(pg.Cut)
	m := nats.NewMsg(subject)
	m.Header.Set(nats.MsgIdHdr, id)
	text := asciiJSON(Encode(pg))
	if len(text) > maxPageHeader {
		pg.Header = pg.needed()
		text = asciiJSON(Encode(pg))
	}
	m.Header.Set(HeaderPage, string(text))
	m.Data = body
	return m
}

// IsAnswer reports whether this is an answer that is no page.
func (pg *Page) IsAnswer() bool {
	return pg.Part != "" && pg.Part != PartCapture || pg.Class != "" && pg.Class != OK
}

// DecodePage reads the header of a message on PAGES.
func DecodePage(header nats.Header) (*Page, error) {
	text := header.Get(HeaderPage)
	if text == "" {
		return nil, fmt.Errorf("decode page: header %s is missing", HeaderPage)
	}
	pg := new(Page)
	if err := cmp.Or(Decode([]byte(text), pg, &pg.V), pg.check()); err != nil {
		return nil, fmt.Errorf("decode page: %w", err)
	}
	return pg, nil
}

func (pg *Page) check() error {
	visited := pg.URL
	if pg.IsAnswer() { // it may be of another URL than the visit: of a redirect, a robots.txt
		visited = ""
	}
	switch {
	case !validEncoding(pg.BodyEncoding):
		return fmt.Errorf("unknown body encoding %q", Clip(pg.BodyEncoding))
	case pg.RequestSize < 0 || pg.HeadSize < 0 || pg.RequestSize > InlineBody || pg.HeadSize > InlineBody:
		return fmt.Errorf("request_size %d, head_size %d: must be from 0 to %d", pg.RequestSize, pg.HeadSize, InlineBody)
	case pg.BodySize < 0:
		return fmt.Errorf("body_size %d: must not be negative", pg.BodySize)
	case pg.Class != "" && !pg.Class.Valid():
		return fmt.Errorf("unknown class %q", Clip(string(pg.Class)))
	case !slices.Contains(parts, pg.Part):
		return fmt.Errorf("part %q: must be document, requisite, screenshot, pdf or capture", Clip(string(pg.Part)))
	case !slices.Contains(truncations, pg.Truncated):
		return fmt.Errorf("truncated %q: must be length, time, disconnect or unspecified", Clip(string(pg.Truncated)))
	case pg.Run < 0:
		return fmt.Errorf("run %d: must not be negative", pg.Run)
	}
	return cmp.Or(checkExchange(pg.Crawl, pg.URL, visited, pg.Visit, pg.Attempt),
		checkDepth(pg.Depth), checkText("rendered", pg.Rendered), checkText("cut", pg.Cut),
		pg.RenderProblems.check(), pg.Metadata.Check(pg.Inherit))
}

// needed is what the parser must know of the header.
func (pg *Page) needed() map[string][]string {
	size := 0
	for _, v := range pg.Header[HeaderRobots] {
		size += len(v)
	}
	if size == 0 || size > maxPageHeader/12 { // which in JSON may become six times as long
		return nil
	}
	return map[string][]string{HeaderRobots: pg.Header[HeaderRobots]}
}

// HeaderRobots says of a response what a robots meta element says of a page.
const HeaderRobots = "X-Robots-Tag"

// contentCodings are what a body may be encoded in (RFC 9110 8.4.1).
var contentCodings = []string{"gzip", "deflate", "br", BodyZstd}

func validEncoding(s string) bool {
	if s == "" {
		return true
	}
	for name := range strings.SplitSeq(s, ", ") {
		if !slices.Contains(contentCodings, name) {
			return false
		}
	}
	return true
}

// Split takes the payload of the page's message apart: the request as it was sent
// and the head of the response, if they were kept, and the body as BodyEncoding
// says, unless that is in an object.
func (pg *Page) Split(payload []byte) (request, head, body []byte, err error) {
	if len(payload) < pg.RequestSize+pg.HeadSize {
		return nil, nil, nil, fmt.Errorf("the payload has %d bytes: at least request_size %d and head_size %d",
			len(payload), pg.RequestSize, pg.HeadSize)
	}
	end := pg.RequestSize + pg.HeadSize
	return payload[:pg.RequestSize:pg.RequestSize], payload[pg.RequestSize:end:end], payload[end:], nil
}

// asciiJSON escapes what is not printable ASCII in JSON text, because clients in other
// languages disagree about the encoding of NATS headers.
func asciiJSON(b []byte) []byte {
	ascii := true
	for _, c := range b {
		if c >= 0x7f {
			ascii = false
			break
		}
	}
	if ascii {
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/4)
	for _, r := range string(b) {
		switch {
		case r < 0x7f:
			out = append(out, byte(r))
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+(r>>10), 0xDC00+(r&0x3FF))
		}
	}
	return out
}
