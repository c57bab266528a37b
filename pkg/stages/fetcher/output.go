package fetcher

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/weburl"
	"seine/internal/page/pii"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher/httpclient"
)

// compose turns how a request ended into messages: the page or the redirect's
// target first, then the result that promises it.
func (f *Fetcher) compose(ctx context.Context, t *fetchJob) (stages.Output, error) {
	var out stages.Output
	location := ""
	switch t.reply.Class {
	case messages.OK:
		page, err := f.page(ctx, t)
		if err != nil {
			return stages.Output{}, err
		}
		out.First = []*nats.Msg{page}
	case messages.Redirect:
		target, err := t.reply.Target()
		if err != nil {
			t.reply.Failed(httpclient.Failf(messages.ClientError, "redirect leads nowhere: %v", err))
			break
		}
		location = target
		out.First = []*nats.Msg{f.candidate(t, target)}
	case messages.NotModified:
		out.First = f.unchanged(t)
	}
	t.noteAnswer()
	sitemaps, done := f.sitemaps(t)
	out.First, out.Done = append(append(out.First, t.answers...), sitemaps...), done
	res := t.result(f.name)
	res.Location = location
	if t.req.Recorded && messages.IsGone(res.Class, res.Status) {
		out.First = append(out.First, goneRecord(t, res).Msg(t.partition))
		res.GoneRecord = true
	}
	out.Then = []*nats.Msg{resultMsg(res, t.partition)}
	requestsTotal.WithLabelValues(string(res.Class)).Inc()
	bodyBytes.Add(float64(res.BytesBody))
	f.tellEnd(ctx, res)
	return out, nil
}

// candidate is the message that gives the target of a redirect to the frontier.
func (f *Fetcher) candidate(t *fetchJob, target string) *nats.Msg {
	return f.candidateMsg(t, messages.Candidate{URL: target, Sitemap: t.req.Sitemap}, &messages.Candidates{
		Source: messages.SourceRedirect, Depth: t.req.Depth, Redirects: t.req.Redirects + 1,
		Metadata: t.req.Metadata, Inherit: t.req.Inherit,
	})
}

// unchanged are the messages that have the frontier find again what it found on the
// page before: any partition may have some of it.
func (f *Fetcher) unchanged(t *fetchJob) (msgs []*nats.Msg) {
	if t.req.PageRound == 0 {
		return nil
	}
	c := &messages.Candidates{
		Crawl: t.req.Crawl, Rev: t.spec.Rev, Source: messages.SourceUnchanged, Referrer: t.req.URL, Depth: t.req.Depth,
		Run: t.req.Run, PageRound: t.req.PageRound,
	}
	text := c.Encode()
	for p := range f.bus.Layout.Partitions {
		msgs = append(msgs, &nats.Msg{Subject: messages.SubjectURLs(t.req.Crawl, p), Data: text})
	}
	return msgs
}

// candidateMsg is the message that gives a URL to the frontier.
func (f *Fetcher) candidateMsg(t *fetchJob, target messages.Candidate, c *messages.Candidates) *nats.Msg {
	c.Crawl, c.Rev, c.Run, c.Referrer = t.req.Crawl, t.spec.Rev, t.req.Run, t.req.URL
	target.URL = t.ask.Policy.Redact(target.URL)
	c.URLs = []messages.Candidate{target}
	m := nats.NewMsg(messages.SubjectURLs(t.req.Crawl, messages.Partition(target.URL, f.bus.Layout.Partitions)))
	m.Data = c.Encode()
	return m
}

// page is the message with what was fetched. A large body is stored first.
func (f *Fetcher) page(ctx context.Context, t *fetchJob) (*nats.Msg, error) {
	r := t.reply
	p := messages.Page{
		Crawl: t.req.Crawl, Rev: t.spec.Rev, URL: t.req.URL, Visit: t.req.Visit, Attempt: t.req.Attempt,
		Depth: t.req.Depth, Referrer: t.req.Referrer, Run: t.req.Run, Status: r.Status, ContentType: r.ContentType,
		FetchedAt: r.Started.UTC(), Header: keptHeader(r.Header), IP: r.IP, Protocol: r.Protocol,
		BodyEncoding: r.Body.Encoding, BodySize: r.Body.Size, BodyObject: r.Body.Object,
		Timings: r.Timings, Digest: r.Digest, Unchanged: t.req.Digest != "" && strings.HasPrefix(r.Digest, t.req.Digest),
		Metadata: t.req.Metadata, Inherit: t.req.Inherit, Sitemap: t.req.Sitemap,
	}
	body := r.Body.Data
	if r.Body.Object == "" && r.Body.Encoding == "" && !t.ask.Archive {
		body, p.BodyEncoding = f.bodies.compress(body)
		r.Body.Data = nil
		r.Shrink(len(body))
	}
	var heads []byte
	if size := len(r.Request) + len(r.Head); size <= messages.InlineBody {
		heads = slices.Concat(r.Request, r.Head)
		p.RequestSize, p.HeadSize = len(r.Request), len(r.Head)
		if size > 0 {
			t.describe(&p)
		}
		if t.ask.Archive && t.ask.URL != t.req.URL {
			p.Asked = t.ask.URL
		}
	}
	if r.Body.Object != "" {
		r.Shrink(0)
	}
	if len(heads)+len(body) > messages.InlineBody {
		p.BodyObject = t.ask.Object
		if err := f.bodies.store(ctx, p.BodyObject, body); err != nil {
			return nil, err
		}
		body, r.Body.Data = nil, nil
		r.Shrink(0)
	}
	if len(heads) > 0 {
		body = append(heads, body...)
	}
	return p.Msg(t.partition, body), nil
}

func (t *fetchJob) result(name string) *messages.Result {
	r := t.reply
	res := &messages.Result{
		Crawl: t.req.Crawl, Rev: t.spec.Rev, URL: t.req.URL, Visit: t.req.Visit, Attempt: t.req.Attempt, Run: t.req.Run,
		Depth: t.req.Depth, Redirects: t.req.Redirects, Referrer: t.req.Referrer,
		Class: r.Class, Detail: r.Detail, Status: r.Status, Error: r.Text, ContentType: r.ContentType,
		Started: r.Started.UTC(), Timings: r.Timings, BytesWire: r.BytesWire, IP: r.IP, Protocol: r.Protocol,
		RetryAfter: messages.Millis(r.RetryAfter), CrawlDelay: t.delay, ETag: r.ETag, LastModified: r.LastModified, Fetcher: name,
	}
	if r.Class == messages.OK {
		res.BytesBody, res.Digest = r.Body.Size, r.Digest
	}
	return res
}

// goneRecord tells those who have records of a page that it is not there any more.
func goneRecord(t *fetchJob, res *messages.Result) *messages.GoneRecord {
	return &messages.GoneRecord{
		URL: res.URL, FetchedAt: res.Started, Crawl: res.Crawl, Visit: res.Visit, Status: res.Status, Class: res.Class, Location: res.Location,
		Metadata: pii.NewMasking(&t.spec.Mask).Metadata(t.req.Metadata),
	}
}

func resultMsg(res *messages.Result, partition int) *nats.Msg {
	m := nats.NewMsg(messages.SubjectResults(res.Crawl, partition))
	m.Header.Set(nats.MsgIdHdr, res.ID())
	m.Data = res.Encode()
	return m
}

// onDeadLetter tells the frontier of a request that was given up, so that it need not
// wait for the request's lease to end. One that cannot be read has nobody to
// be told.
func (f *Fetcher) onDeadLetter(m *stages.Message, why error) stages.Output {
	req, err := decodeRequest(m.Data)
	if err != nil {
		return stages.Output{}
	}
	res := &messages.Result{
		Crawl: req.Crawl, Rev: req.Rev, URL: req.URL, Visit: req.Visit, Attempt: req.Attempt, Run: req.Run,
		Depth: req.Depth, Redirects: req.Redirects, Referrer: req.Referrer,
		Class: messages.ProtocolError, Error: "the fetcher gave up: " + why.Error(),
		Started: time.Now().UTC(), Fetcher: f.name,
	}
	requestsTotal.WithLabelValues(string(res.Class)).Inc()
	p := messages.Partition(req.URL, f.bus.Layout.Partitions)
	return stages.Output{Then: []*nats.Msg{resultMsg(res, p)}}
}

// maxKeptHeader bounds the response header that goes with a page, in bytes of
// names and values. In JSON a byte may become six, and header and body must
// fit in one message of 1 MiB.
const maxKeptHeader = 32 << 10

// dropped are the fields that do not go with a page: the hop-by-hop ones
// (RFC 9110 7.6.1), and cookies, which may hold a session and end up in files
// that others read.
var dropped = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authentication-Info",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie", "Set-Cookie2",
}

// linking are the fields that hold URLs, which the parser reads.
var linking = []string{"Link", "Refresh"}

// keptHeader strips h in place. In JSON a byte that is not UTF-8 would be lost; in a
// URL it is written so that it is not.
func keptHeader(h http.Header) http.Header {
	for _, name := range linking {
		for i, v := range h[name] {
			h[name][i] = weburl.EscapeInvalid(v)
		}
	}
	for _, v := range h["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range dropped {
		delete(h, name)
	}
	if size := headerSize(h); size > maxKeptHeader {
		shrink(h, size)
	}
	return h
}

func headerSize(h http.Header) int {
	size := 0
	for name, values := range h {
		size += fieldSize(name, values)
	}
	return size
}

func fieldSize(name string, values []string) int {
	size := 0
	for _, v := range values {
		size += len(name) + len(v)
	}
	return size
}

// shrink drops the largest fields until the rest is small enough.
func shrink(h http.Header, size int) {
	names := slices.SortedFunc(maps.Keys(h), func(a, b string) int {
		if d := fieldSize(b, h[b]) - fieldSize(a, h[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		if size <= maxKeptHeader {
			return
		}
		if name == messages.HeaderRobots && fieldSize(name, h[name]) < maxKeptHeader/8 {
			continue // which the parser must know
		}
		size -= fieldSize(name, h[name])
		delete(h, name)
	}
}
