package fetcher

import (
	"io"
	"math"
	"net/http"
	"slices"

	"github.com/nats-io/nats.go"

	"seine/internal/base/contentcoding"
	"seine/pkg/messages"
)

// An archive has more than pages: redirects, errors, 304s, and what was answered for
// robots.txt. Each such answer is a message of its own, published before the result of
// its request. Without archive: true there are none, and no more is read of an error
// than its connection is worth.

// Bounds of the body of an answer that is no page. What a redirect has beside its
// Location is a notice; errors may be whole pages.
const (
	maxErrorBody    = 256 << 10
	maxRedirectBody = drainBytes
)

// answerBound is how much is kept of the body of an answer.
func (x *exchange) answerBound() int64 {
	switch {
	case x.reply.status < http.StatusOK: // what follows a 101 is no body, and does not end
		return 0
	case x.reply.class == messages.Redirect:
		return maxRedirectBody
	}
	return maxErrorBody
}

// readAnswer takes the body of an answer that is no page, if that is to be archived. The
// class stays whatever happens: what has come is kept, and why the rest is missing.
func (x *exchange) readAnswer(resp *http.Response) {
	if !x.ask.archive {
		return
	}
	x.wire = wireReader{x: x, src: resp.Body, most: math.MaxInt64}
	src, done, f := x.answerSource(resp)
	defer done()
	if f == nil {
		x.reply.answer, f = x.readUpTo(src, x.answerBound(), resp.ContentLength)
	}
	if f != nil {
		x.reply.truncated = truncation(f)
	}
}

// answerSource returns the body as it is archived: as it comes, but decoded and without
// secrets if the spec has any.
func (x *exchange) answerSource(resp *http.Response) (src io.Reader, done func(), f *failure) {
	done = func() {}
	hidden := x.ask.hidden()
	if !hidden.active() {
		return &x.wire, done, nil
	}
	names, err := contentcoding.Parse(resp.Header["Content-Encoding"])
	if err != nil {
		return nil, done, fail(messages.BadEncoding, "%v", err)
	}
	if len(names) == 0 {
		return hidden.reader(&x.wire), done, nil
	}
	x.decoded = true
	z := contentcoding.NewReader(&x.wire, names, x.c.cfg.MaxRatio)
	return hidden.reader(z), func() { _ = z.Close() }, nil
}

// readUpTo reads a body of some length, -1 if that is not known, up to a bound, and
// returns what has come in any case.
func (x *exchange) readUpTo(src io.Reader, most, length int64) ([]byte, *failure) {
	need := most + 1
	if length >= 0 && !x.decoded {
		need = min(need, length)
	}
	if f := x.reserveMemory(need, need); f != nil {
		return nil, f
	}
	data, err := io.ReadAll(io.LimitReader(src, most+1))
	if int64(len(data)) > most {
		return data[:most], fail(messages.TooLarge, "only its first %d bytes are kept", most)
	}
	if err != nil {
		return data, x.classifyReadError(err)
	}
	return data, nil
}

// truncation says in the words of an archive why a body is not whole.
func truncation(f *failure) messages.Truncation {
	switch f.class {
	case messages.Timeout, messages.Stalled:
		return messages.TruncatedTime
	case messages.BadEncoding:
		return messages.TruncatedUnspecified
	case messages.TooLarge:
		return messages.TruncatedLength
	default:
		return messages.TruncatedDisconnect
	}
}

// archiveAnswer leaves an answer that is no page in the reply as it went over the wire.
// That of a proxy is none of the site.
func (x *exchange) archiveAnswer(resp *http.Response) {
	if x.reply.class != messages.ProxyFailure {
		x.archive(resp)
	}
}

// exchanged is an exchange that is over.
type exchanged struct {
	url   string
	reply *fetchReply
}

// noteAnswer keeps the answer of the last exchange of the turn for the archive, unless
// it is the page, or is kept already.
func (t *fetchJob) noteAnswer() {
	r := t.reply
	if r.class == messages.OK || r.noted {
		return
	}
	r.noted = true
	via := t.via
	if via == "" {
		via = t.req.Referrer
	}
	if m := t.answer(exchanged{t.ask.url, r}, r.class, via, t.hops); m != nil {
		t.answers, t.via = append(t.answers, m), t.ask.url
		t.hops++
	}
}

// noteRobots keeps what was answered for robots.txt.
func (t *fetchJob) noteRobots(hops []exchanged) {
	via := t.ask.url
	for n, x := range hops {
		if m := t.answer(x, messages.RobotsFetched, via, n); m != nil {
			t.answers = append(t.answers, m)
		}
		via = x.url
	}
}

// answer is the message with an answer, nil if it is not known as it went over the wire.
func (t *fetchJob) answer(x exchanged, class messages.Class, via string, n int) *nats.Msg {
	r := x.reply
	room := messages.InlineBody - len(r.request) - len(r.head)
	if len(r.head) == 0 || room < 0 {
		return nil
	}
	body, truncated := r.answer, r.truncated
	if r.class == messages.OK {
		body = r.body.data
	}
	if len(body) > room {
		body, truncated = body[:room], messages.TruncatedLength
	}
	p := messages.Page{
		Crawl: t.req.Crawl, Rev: t.spec.Rev, URL: x.url, Visit: t.req.Visit, Attempt: t.req.Attempt,
		Depth: t.req.Depth, Referrer: via, Run: t.req.Run, Status: r.status, ContentType: r.contentType,
		FetchedAt: r.started.UTC(), IP: r.source, Protocol: r.protocol, BodySize: int64(len(body)), Timings: r.timings,
		RequestSize: len(r.request), HeadSize: len(r.head), Metadata: t.req.Metadata,
		Class: class, Truncated: truncated,
	}
	t.describe(&p)
	return p.AnswerMsg(t.partition, n, slices.Concat(r.request, r.head, body))
}

// describe notes what an archive says of itself.
func (t *fetchJob) describe(p *messages.Page) {
	p.Robots, p.Contact = string(t.spec.Robots), t.spec.Contact
}
