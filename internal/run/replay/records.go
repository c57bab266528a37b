package replay

import (
	"context"

	"github.com/nats-io/nats.go"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// record copies a record, or a batch of records, for the writer on the scratch server. It copies
// nothing if all pages are of hosts that are not selected. Records keep their identities, by which
// the writer detects repeats.
func (p *messageCopier) record(ctx context.Context, m *stages.Message) (maker, error) {
	out := copyOf(m)
	if id := m.Header.Get(nats.MsgIdHdr); id != "" {
		out.Header.Set(nats.MsgIdHdr, id)
	}
	if p.Choice.Host != "" {
		if out = p.ofHost(out); out == nil {
			return nil, nil
		}
	}
	if crawl := messages.CrawlOf(m.Subject); messages.CheckCrawl(crawl) == nil {
		if _, err := p.spec(ctx, crawl); err != nil { // the spec defines the columns of files
			return nil, err
		}
	}
	out.Header.Del(messages.HeaderSpec) // the scratch server has other revisions
	return func(context.Context) ([]*nats.Msg, error) { return []*nats.Msg{out}, nil }, nil
}

// ofHost returns the part of a message that is about the selected host, nil if there is none.
func (p *messageCopier) ofHost(m *nats.Msg) *nats.Msg {
	parts, err := messages.SplitBatch(m.Header, m.Data)
	if err != nil {
		return m // the writer reports the error
	}
	var of []*nats.Msg
	for _, part := range parts {
		var about struct {
			URL string `json:"url"`
		}
		if jsontext.Unmarshal(part.Data, &about) == nil && p.Choice.has(about.URL) {
			of = append(of, &nats.Msg{Subject: m.Subject, Header: part.Header, Data: part.Data})
		}
	}
	switch len(of) {
	case 0:
		return nil
	case len(parts):
		return m
	case 1:
		return of[0]
	}
	return messages.JoinBatch(of)
}
