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

// HeaderPage is the header of a PAGES message that holds a Page as JSON. The payload is the body,
// in the encoding given by the Page.
const HeaderPage = "Seine-Page"

// BodyPage is the metadata key of an object in BucketBodies for the sequence in PAGES of the
// message that names it.
const BodyPage = "page"

// maxPageHeader bounds HeaderPage: NATS refuses headers over 64 KiB in all.
const maxPageHeader = 48 << 10

// BodyZstd is the encoding of a body that was compressed with Zstandard (RFC 8878).
const BodyZstd = "zstd"

// Page is the header of a message on PAGES: a response whose body was kept. In an archived crawl,
// it is also the header of a response that is not a page (SubjectAnswers).
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
	ContentType string    `json:"content_type,omitempty"` // the header as received; sniffed if there is none
	FetchedAt   time.Time `json:"fetched_at"`
	// Header is the response header as received, without the hop-by-hop fields and cookies. If it
	// does not fit, only HeaderRobots is kept.
	Header map[string][]string `json:"header,omitempty"`
	// BodyEncoding is "", BodyZstd, or the content codings (RFC 9110 8.4.1) of the received body,
	// such as "gzip, br": the last is decoded first. BodySize is the decoded size in bytes.
	BodyEncoding string `json:"body_encoding,omitempty"`
	BodySize     int64  `json:"body_size"`
	// RequestSize and HeadSize are set for an archived page: the payload begins with the request as
	// sent and the response head as received, of these sizes in bytes. The request omits secrets
	// and cookies.
	RequestSize int `json:"request_size,omitempty"`
	HeadSize    int `json:"head_size,omitempty"`
	// IP is the address that the page came from, Protocol the HTTP version.
	IP       string `json:"ip,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	// Timings and Digest are copied from the Result.
	Timings Timings `json:"timings,omitzero"`
	Digest  string  `json:"digest,omitempty"`
	// Unchanged means that the body is identical to that of the previous visit.
	Unchanged bool `json:"unchanged,omitempty"`
	// Recorded is copied from the Request.
	Recorded bool `json:"recorded,omitempty"`
	// Metadata and Inherit are copied from the Request.
	Metadata Metadata `json:"metadata,omitempty"`
	Inherit  bool     `json:"inherit,omitempty"`
	// Sitemap is copied from the Request.
	Sitemap bool `json:"sitemap,omitempty"`
	// BodyObject is the name of the body in the object store BucketBodies, if it was too large for
	// the message.
	BodyObject string `json:"body_object,omitempty"`
	// Robots and Contact come from the spec of an archived exchange. Archives record them.
	Robots  string `json:"robots,omitempty"`
	Contact string `json:"contact,omitempty"`
	// Asked is the URL of the final request for an archived page, if that is not URL because the
	// fetcher followed redirects.
	Asked string `json:"asked,omitempty"`
	// Rendered is why the page was rendered in a browser, for users, "" if it was not. If it was,
	// the body is the document as its scripts changed it.
	Rendered string `json:"rendered,omitempty"`
	// Cut is why a page that was to be rendered may be incomplete, for users, "" if it is complete.
	// It names what was not awaited, or why the body is the document as received.
	Cut string `json:"cut,omitempty"`
	// RenderProblems are the problems during rendering.
	RenderProblems RenderProblems `json:"render_problems,omitempty"`
	// Part is the part of a rendered page that this is.
	Part Part `json:"part,omitempty"`
	// Class is set for a response that is not a page: the result class of its request,
	// RobotsFetched for a robots.txt. Its body is in the payload as received, or decoded if its
	// head says so.
	Class Class `json:"class,omitempty"`
	// Truncated is why the body of a response is incomplete.
	Truncated Truncation `json:"truncated,omitempty"`
}

// Part is a part of a rendered page that is kept beside the rendered document.
type Part string

// Values of Part.
const (
	PartDocument  Part = "document"  // the document as received, before rendering
	PartRequisite Part = "requisite" // a resource that the page requested during rendering

	PartScreenshot Part = "screenshot" // a screenshot of the page
	PartPDF        Part = "pdf"        // the page printed as PDF

	// PartCapture is not an answer but a separate page: a response to a request by a script of
	// another page. No visit ends with it.
	PartCapture Part = "capture"
)

var parts = []Part{"", PartDocument, PartRequisite, PartScreenshot, PartPDF, PartCapture}

// Truncation is why a body was cut, with the values of WARC 1.1, section 5.13.
type Truncation string

// Values of Truncation.
const (
	TruncatedLength      Truncation = "length"      // longer than the limit
	TruncatedTime        Truncation = "time"        // too slow
	TruncatedDisconnect  Truncation = "disconnect"  // the connection ended
	TruncatedUnspecified Truncation = "unspecified" // the rest cannot be decoded
)

var truncations = []Truncation{"", TruncatedLength, TruncatedTime, TruncatedDisconnect, TruncatedUnspecified}

// Msg returns the message for partition p with the body as its payload. If the header does not fit,
// it is also reduced in pg.
func (pg *Page) Msg(p int, body []byte) *nats.Msg {
	id := VisitID(pg.Crawl, pg.Visit)
	if pg.Part == PartCapture { // its URL may have a visit of its own
		id += "." + string(PartCapture)
	}
	return pg.msg(SubjectPages(pg.Crawl, p), id, body)
}

// chainedSuffix is the suffix of a chained page's Nats-Msg-Id. It differs from the identity of the
// unchained page: if the fetcher dies before the parser's output is stored, a redelivered request
// publishes the page for the parser, and JetStream must not drop that as a duplicate.
const chainedSuffix = ".chained"

// ChainedMsg returns a message of Msg in the form in which it is stored after a parser received it
// in memory.
func ChainedMsg(m *nats.Msg) *nats.Msg {
	c := &nats.Msg{Subject: withKind(m.Subject, KindOfChained), Header: maps.Clone(m.Header), Data: m.Data}
	c.Header.Set(nats.MsgIdHdr, m.Header.Get(nats.MsgIdHdr)+chainedSuffix)
	return c
}

// PageID returns the identity of a page from the header of its message, the same whether the page
// is chained or not.
func PageID(header nats.Header) string {
	return strings.TrimSuffix(header.Get(nats.MsgIdHdr), chainedSuffix)
}

// AnswerMsg is Msg for a response that is not a page, the nth one of its attempt. Responses for
// robots.txt are numbered separately: a repeated request may find the file in memory.
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

// IsAnswer reports whether this is a response that is not a page.
func (pg *Page) IsAnswer() bool {
	return pg.Part != "" && pg.Part != PartCapture || pg.Class != "" && pg.Class != OK
}

// DecodePage decodes the header of a message on PAGES.
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
	if pg.IsAnswer() { // it may have another URL than the visit: that of a redirect or a robots.txt
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

// needed returns the header fields that the parser needs.
func (pg *Page) needed() map[string][]string {
	size := 0
	for _, v := range pg.Header[HeaderRobots] {
		size += len(v)
	}
	if size == 0 || size > maxPageHeader/12 { // in JSON it may become six times as long
		return nil
	}
	return map[string][]string{HeaderRobots: pg.Header[HeaderRobots]}
}

// HeaderRobots is the response header with the same directives as a robots meta element.
const HeaderRobots = "X-Robots-Tag"

// contentCodings are the possible codings of a body (RFC 9110 8.4.1).
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

// Split splits the payload of a page's message into the request as sent and the head of the
// response, if they were kept, and the body in BodyEncoding, unless that is in an object.
func (pg *Page) Split(payload []byte) (request, head, body []byte, err error) {
	if len(payload) < pg.RequestSize+pg.HeadSize {
		return nil, nil, nil, fmt.Errorf("the payload has %d bytes: at least request_size %d and head_size %d",
			len(payload), pg.RequestSize, pg.HeadSize)
	}
	end := pg.RequestSize + pg.HeadSize
	return payload[:pg.RequestSize:pg.RequestSize], payload[pg.RequestSize:end:end], payload[end:], nil
}

// asciiJSON escapes all characters in JSON text that are not printable ASCII, because clients in
// other languages disagree about the encoding of NATS headers.
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
