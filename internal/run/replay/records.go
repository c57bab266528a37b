package replay

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// record returns a record for the writer at the side, nil if its page is of
// another host. It keeps its identity, by which the writer knows a repeat.
func (p *messageCopier) record(ctx context.Context, m jetstream.Msg) (*nats.Msg, error) {
	if p.Choice.Host != "" {
		var about struct {
			URL string `json:"url"`
		}
		if jsontext.Unmarshal(m.Data(), &about) != nil || !p.Choice.has(about.URL) {
			return nil, nil
		}
	}
	if crawl := messages.CrawlOf(m.Subject()); messages.CheckCrawl(crawl) == nil {
		if err := p.spec(ctx, crawl); err != nil { // which says what columns a file has
			return nil, err
		}
	}
	out := copyOf(m)
	out.Header.Del(messages.HeaderSpec) // revisions at the side are others
	if id := m.Headers().Get(nats.MsgIdHdr); id != "" {
		out.Header.Set(nats.MsgIdHdr, id)
	}
	return out, nil
}

// anyRoom leaves it to the stream to be full.
func anyRoom(context.Context, uint64, int) error { return nil }
