package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"seine/internal/render"
	"seine/internal/render/pageproxy"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// requisiteLog records the responses to a page's requests during rendering.
type requisiteLog struct {
	withheld atomic.Bool // a request was withheld, since another process may render the page

	mu        sync.Mutex
	exchanges []pageproxy.Exchange
}

// record keeps an exchange. It is safe for concurrent use.
func (l *requisiteLog) record(x pageproxy.Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exchanges = append(l.exchanges, x)
}

// keepParts keeps the parts of a rendered page beside its final document: for the archive, the
// document as received, the requisites, and the pictures; and as separate pages, the responses that
// the spec captures. It returns an error only if ctx is done.
func (rd rendering) keepParts(ctx context.Context, t *fetchJob, page *render.Page, exchanges []pageproxy.Exchange) error {
	if t.ask.Archive && !page.Gone {
		if err := rd.keepPart(ctx, t, t.reply, messages.PartDocument, 0); err != nil {
			return err
		}
	}
	for n := range exchanges {
		r := t.ask.Policy.RequisiteReply(&exchanges[n])
		if r == nil {
			continue
		}
		if t.ask.Archive {
			if err := rd.keepPart(ctx, t, r, messages.PartRequisite, n); err != nil {
				return err
			}
		}
		if rd.bus != nil && isCaptured(t, &exchanges[n], r) { // a single page has nowhere to publish others
			if err := rd.keepCapture(ctx, t, r); err != nil {
				return err
			}
		}
	}
	if !t.ask.Archive || page.Gone {
		return nil
	}
	for n, shot := range page.Screenshots {
		if err := rd.keepPicture(ctx, t, messages.PartScreenshot, n, "image/png", shot); err != nil {
			return err
		}
	}
	return rd.keepPicture(ctx, t, messages.PartPDF, 0, "application/pdf", page.PDF)
}

// keepPicture is keepPart for a screenshot or PDF of the page.
func (rd rendering) keepPicture(ctx context.Context, t *fetchJob, part messages.Part, n int, mediaType string, data []byte) error {
	r := httpclient.Reply{ContentType: mediaType, Body: httpclient.Body{Data: data}}
	r.URL, r.Status, r.Started = t.ask.URL, t.reply.Status, t.reply.Started
	return rd.keepPart(ctx, t, &r, part, n)
}

// keepPart adds a part of the page to the messages. It stores a large body first.
func (rd rendering) keepPart(ctx context.Context, t *fetchJob, r *httpclient.Reply, part messages.Part, n int) error {
	if len(r.Head) == 0 && len(r.Body.Data) == 0 || len(r.Request)+len(r.Head) > t.inline {
		return nil
	}
	via := t.req.Referrer
	if part == messages.PartRequisite {
		via = t.req.URL
	}
	p := t.archivedAnswer(r, via, len(r.Body.Data))
	p.Part, p.Truncated = part, r.Truncated
	heads := slices.Concat(r.Request, r.Head)
	payload, err := rd.bodies.payload(ctx, t.inline, &p, fmt.Sprintf("%s.%s.%d", t.object, part, n), heads, r.Body.Data)
	if err != nil {
		return err
	}
	t.archived = append(t.archived, t.noteBody(p.AnswerMsg(t.partition, n, payload), p.BodyObject))
	return nil
}

// isCaptured reports whether the spec wants a response parsed as a separate page.
func isCaptured(t *fetchJob, x *pageproxy.Exchange, r *httpclient.Reply) bool {
	return x.Method == http.MethodGet && x.Status == http.StatusOK && !x.Truncated && t.spec.Render.Captures(r.URL)
}

// keepCapture adds a response as a separate page. Its identity is its URL in the round of the page,
// so that it is parsed once, however many pages request it.
func (rd rendering) keepCapture(ctx context.Context, t *fetchJob, r *httpclient.Reply) error {
	body, err := decodedBody(r.Body.Data, r.Header.Get("Content-Encoding"), t.ask.MaxBody)
	if err != nil {
		return nil // not a page: it cannot be decoded, or it exceeds MaxBody
	}
	p := t.answerOf(r)
	p.URL, p.Visit = r.URL, messages.Visit{URL: messages.HashURL(r.URL), Round: t.req.Visit.Round}
	p.Depth, p.Referrer, p.Inherit, p.Part = min(t.req.Depth+1, messages.MaxDepth), t.req.URL, t.req.Inherit, messages.PartCapture
	p.Header, p.BodySize = keptHeader(r.Header, t.inline/keptShare), int64(len(body))
	body, p.BodyEncoding = rd.bodies.compress(t.ask.Policy.Hide(body))
	payload, err := rd.bodies.payload(ctx, t.inline, &p, t.object+".capture."+p.Visit.URL.String(), nil, body)
	if err == nil {
		t.archived = append(t.archived, t.noteBody(p.Msg(messages.Partition(p.URL, rd.bus.Layout.Partitions), payload), p.BodyObject))
	}
	return err
}
