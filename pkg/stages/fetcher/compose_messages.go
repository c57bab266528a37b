package fetcher

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/page/pii"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/fetcher/httpclient"
)

// composer builds the messages of a finished request.
type composer struct{ *Fetcher }

// compose returns the messages for the outcome of a request: first the page or the redirect's
// target, then the result that promises it.
func (co composer) compose(ctx context.Context, m *stages.Message, t *fetchJob) (stages.Output, error) {
	var out stages.Output
	var err error
	location := ""
	switch t.reply.Class {
	case messages.OK:
		if out, err = co.page(ctx, m, t); err != nil {
			return stages.Output{}, err
		}
	case messages.Redirect:
		target, err := t.reply.Target()
		if err != nil {
			t.reply.Failed(httpclient.Failf(messages.ClientError, "redirect without a valid target: %v", err))
			break
		}
		location = target
		out.First = []*nats.Msg{co.candidate(t, target)}
	case messages.NotModified:
		out.First = co.unchanged(t)
		if t.req.Recorded {
			out.First = append(out.First, t.visitRecord(messages.KindVisit, ""))
		}
	}
	t.noteAnswer()
	sitemaps, done := co.sitemaps(t)
	out.First = append(append(out.First, t.archived...), sitemaps...)
	out.OnDone(done)
	co.markBodies(ctx, t, &out)
	res := t.result(co.name)
	res.Location = location
	if t.req.Recorded && t.spec.Gone == crawlspec.WhenGoneRecord && messages.IsGone(res.Class, res.Status) {
		out.First = append(out.First, t.visitRecord(messages.KindGone, location))
		res.GoneRecord = true
	}
	out.Last = []*nats.Msg{resultMsg(res, t.partition)}
	requestsTotal.WithLabelValues(string(res.Class)).Inc()
	bodyBytes.Add(float64(res.BytesBody))
	co.tellEnd(ctx, res)
	return out, nil
}

// candidate returns the message that adds the target of a redirect to the frontier.
func (co composer) candidate(t *fetchJob, target string) *nats.Msg {
	return co.candidateMsg(t, messages.Candidate{URL: target, Sitemap: t.req.Sitemap}, &messages.Candidates{
		Source: messages.SourceRedirect, Depth: t.req.Depth, Redirects: t.req.Redirects + 1,
		Metadata: t.req.Metadata, Inherit: t.req.Inherit,
	})
}

// unchanged returns the messages that make the frontier find the page's earlier links again. They
// go to all partitions, since any may have some of the links.
func (co composer) unchanged(t *fetchJob) (msgs []*nats.Msg) {
	if t.req.PageRound == 0 {
		return nil
	}
	c := &messages.Candidates{
		Crawl: t.req.Crawl, Rev: t.spec.Rev, Source: messages.SourceUnchanged, Referrer: t.req.URL, Depth: t.req.Depth,
		Run: t.req.Run, Era: messages.EraOf(t.req.Visit.Round), PageRound: t.req.PageRound,
	}
	text := c.Encode()
	for p := range co.bus.Layout.Partitions {
		msgs = append(msgs, &nats.Msg{Subject: messages.SubjectURLs(c.Source, t.req.Crawl, p), Data: text})
	}
	return msgs
}

// candidateMsg returns the message that adds a URL to the frontier.
func (co composer) candidateMsg(t *fetchJob, target messages.Candidate, c *messages.Candidates) *nats.Msg {
	c.Crawl, c.Rev, c.Run, c.Referrer = t.req.Crawl, t.spec.Rev, t.req.Run, t.req.URL
	c.Era = messages.EraOf(t.req.Visit.Round)
	target.URL = t.ask.Policy.Redact(target.URL)
	c.URLs = []messages.Candidate{target}
	m := nats.NewMsg(messages.SubjectURLs(c.Source, t.req.Crawl, messages.Partition(target.URL, co.bus.Layout.Partitions)))
	m.Data = c.Encode()
	return m
}

// page returns the messages for a page. Without a chained parser, or if the request was delivered
// before, that is the message for the parser. Otherwise, it is a message for other readers and the
// parser's output. If the chained parser fails, the page also goes to PAGES: a page that makes the
// parser fail must not be fetched repeatedly, and PAGES has retries and DEAD.
func (co composer) page(ctx context.Context, m *stages.Message, t *fetchJob) (stages.Output, error) {
	body := t.reply.Body.Decoded()
	defer t.reply.Body.ReleaseDecoded() // before this page is stored, since others need the memory
	page, msg, err := co.pageMsg(ctx, t)
	if err != nil || co.parser == nil || m.Deliveries > 1 || page.BodyObject != "" {
		return stages.Output{First: []*nats.Msg{msg}}, err
	}
	if out, err := co.parser.Handle(ctx, page, msg, body); err == nil {
		return out, nil
	} else if ctx.Err() != nil {
		return stages.Output{}, err
	}
	return stages.Output{First: []*nats.Msg{msg}}, nil
}

// pageMsg returns the message of the fetched page. It stores a large body first.
func (co composer) pageMsg(ctx context.Context, t *fetchJob) (*messages.Page, *nats.Msg, error) {
	r := t.reply
	p := t.pageOf(r)
	p.BodyEncoding, p.BodyObject = r.Body.Encoding, r.Body.Object
	p.Unchanged = t.req.Digest != "" && strings.HasPrefix(r.Digest, t.req.Digest)
	p.Inherit, p.Sitemap, p.Recorded = t.req.Inherit, t.req.Sitemap, t.req.Recorded
	body := r.Body.Data
	if r.Body.Object == "" && r.Body.Encoding == "" && (!t.ask.Archive || t.rendered.why != "") {
		body, p.BodyEncoding = co.bodies.compress(body)
		r.Body.Data = nil
		r.Shrink(len(body))
	}
	var heads []byte
	if size := len(r.Request) + len(r.Head); size <= t.inline {
		heads = slices.Concat(r.Request, r.Head)
		p.RequestSize, p.HeadSize = len(r.Request), len(r.Head)
		if size > 0 {
			t.describe(&p)
		}
		if t.ask.Archive && t.ask.URL != t.req.URL {
			p.Asked = t.ask.URL
		}
	}
	payload, err := co.bodies.payload(ctx, t.inline, &p, t.object, heads, body)
	if err != nil {
		return nil, nil, err
	}
	if p.BodyObject != "" {
		r.Body.Data = nil
		r.Shrink(0)
	}
	return &p, t.noteBody(p.Msg(t.partition, payload), p.BodyObject), nil
}

// answerOf returns the common fields of a page and of archived responses.
func (j *fetchJob) answerOf(r *httpclient.Reply) messages.Page {
	return messages.Page{
		Crawl: j.req.Crawl, Rev: j.spec.Rev, URL: j.req.URL, Visit: j.req.Visit, Attempt: j.req.Attempt,
		Depth: j.req.Depth, Referrer: j.req.Referrer, Run: j.req.Run, Metadata: j.req.Metadata,
		Status: r.Status, ContentType: r.ContentType, FetchedAt: r.Started.UTC(), IP: r.IP, Protocol: r.Protocol, Timings: r.Timings,
	}
}

// pageOf returns a page without the location of its body.
func (j *fetchJob) pageOf(r *httpclient.Reply) messages.Page {
	p := j.answerOf(r)
	p.Header, p.BodySize, p.Digest = keptHeader(r.Header, j.inline/keptShare), r.Body.Size, r.Digest
	p.Rendered, p.Cut, p.RenderProblems = j.rendered.why, j.rendered.cut, j.rendered.problems
	return p
}

// resultOf returns the common fields of all results of a request.
func resultOf(req *messages.Request, name string) *messages.Result {
	return &messages.Result{
		Crawl: req.Crawl, Rev: req.Rev, URL: req.URL, Visit: req.Visit, Attempt: req.Attempt, Run: req.Run,
		Depth: req.Depth, Redirects: req.Redirects, Referrer: req.Referrer, Fetcher: name,
	}
}

func (j *fetchJob) result(name string) *messages.Result {
	r := j.reply
	res := resultOf(j.req, name)
	res.Rev = j.spec.Rev
	res.Class, res.Detail, res.Status, res.Error = r.Class, r.Detail, r.Status, r.Text
	res.Started, res.Timings, res.BytesWire, res.IP, res.Protocol = r.Started.UTC(), r.Timings, r.BytesWire, r.IP, r.Protocol
	res.ContentType, res.ETag, res.LastModified = r.ContentType, r.ETag, r.LastModified
	res.RetryAfter, res.CrawlDelay = messages.Millis(r.RetryAfter), j.delay
	if !r.Started.IsZero() {
		res.Age = messages.Millis(max(0, time.Since(r.Started)-time.Duration(r.Timings.Total)))
	}
	res.NotRendered, res.RenderProblems = j.rendered.whyNot, j.rendered.problems
	if j.rendered.why != "" {
		res.Rendered, res.Requisites, res.Actions = j.rendered.why, j.rendered.requests, j.rendered.actions
	}
	if !j.rendered.ended.IsZero() { // the browser sent requests to the host until then
		res.Age = messages.Millis(time.Since(j.rendered.ended))
	}
	if r.Class == messages.OK {
		res.BytesBody, res.Digest = r.Body.Size, r.Digest
	}
	return res
}

// visitRecord returns the message that stands for the records of a page if the request brings none.
func (j *fetchJob) visitRecord(kind, location string) *nats.Msg {
	r := j.reply
	rec := &messages.VisitRecord{
		Kind: kind, URL: j.req.URL, FetchedAt: r.Started.UTC(), Crawl: j.req.Crawl, Visit: j.req.Visit, Run: j.req.Run,
		Status: r.Status, Class: r.Class, Same: r.Class == messages.NotModified, Location: location,
		Metadata: pii.NewMasking(&j.spec.Mask).Metadata(j.req.Metadata),
	}
	return rec.Msg(j.partition)
}

func resultMsg(res *messages.Result, partition int) *nats.Msg {
	m := nats.NewMsg(messages.SubjectResults(res.Crawl, partition))
	m.Header.Set(nats.MsgIdHdr, res.ID())
	m.Data = res.Encode()
	return m
}

// onDeadLetter reports an abandoned request to the frontier, so that it need not wait for the
// request's lease to end. If the request cannot be decoded, its partition is unknown.
func (co composer) onDeadLetter(m *stages.Message, why error) stages.Output {
	req, err := decodeRequest(m.Data)
	if err != nil {
		return stages.Output{}
	}
	res := resultOf(req, co.name)
	res.Class, res.Error, res.Started = messages.ProtocolError, "internal error of the fetcher: "+why.Error(), time.Now().UTC()
	requestsTotal.WithLabelValues(string(res.Class)).Inc()
	p := messages.Partition(req.URL, co.bus.Layout.Partitions)
	return stages.Output{Last: []*nats.Msg{resultMsg(res, p)}}
}
