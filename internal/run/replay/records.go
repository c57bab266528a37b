package replay

import (
	"context"

	"github.com/nats-io/nats.go"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// record copies a record for the writer at the side, or the records of a batch, unless
// all are of pages of another host. They keep their identities, by which the writer knows a
// repeat.
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
		if _, err := p.spec(ctx, crawl); err != nil { // which says what columns a file has
			return nil, err
		}
	}
	out.Header.Del(messages.HeaderSpec) // revisions at the side are others
	return func(context.Context) ([]*nats.Msg, error) { return []*nats.Msg{out}, nil }, nil
}

// ofHost returns what of a message is of pages of the host that was chosen, nil if nothing is.
func (p *messageCopier) ofHost(m *nats.Msg) *nats.Msg {
	parts, err := messages.SplitBatch(m.Header, m.Data)
	if err != nil {
		return m // for the writer, which says what is wrong with it
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
