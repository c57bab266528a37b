package stages

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"seine/internal/base/tracing"
	"seine/pkg/messages"
)

// Chain passes pages in memory from a fetcher to a parser in the same process, like operator
// chaining in stream processors. The page is still stored for all readers of PAGES, but the server
// need not deliver it to the parser or track its worker. The fetcher publishes the parser's output
// before the result of the request. If the process dies before that, its requests are redelivered.
type Chain struct {
	bus     *Bus
	pub     *Publisher
	metrics *metrics
	parse   func(context.Context, *messages.Page, *Message) (Output, error)
	workers chan struct{} // one slot for each page being parsed, so that 64 concurrent fetches do not mean 64 concurrent parses
}

// NewChain returns a chain to a parser. It runs at most workers calls of parse concurrently.
func NewChain(bus *Bus, workers int, parse func(context.Context, *messages.Page, *Message) (Output, error)) *Chain {
	return &Chain{
		bus: bus, pub: NewPublisher(bus, messages.StageParser), metrics: metricsFor(messages.StageParser),
		parse: parse, workers: make(chan struct{}, workers),
	}
}

// Handle parses the page in msg, which must be unpublished, and returns the messages to publish for
// both before the result of the request. body is the decoded body of the page, or nil; the caller
// may modify it after the call. The end of the visit is published after everything else, so a
// reader of RESULTS or of visit ends finds the page and its outputs. After an error the caller
// decides how to handle the page: none of its messages have been published then, except perhaps the
// page for other readers.
func (c *Chain) Handle(ctx context.Context, page *messages.Page, msg *nats.Msg, body []byte) (Output, error) {
	select {
	case c.workers <- struct{}{}:
	case <-ctx.Done():
		return Output{}, ctx.Err()
	}
	defer func() { <-c.workers }()
	began := time.Now()
	chained := messages.ChainedMsg(msg)
	m, stored := c.message(msg, chained)
	m.Body = body
	out, err := c.traced(ctx, page, m)
	if err != nil {
		c.bus.Log.Debug("page is left to the parsers of PAGES", "crawl", page.Crawl, "url", page.URL, "error", err)
		return Output{}, err
	}
	c.metrics.handled.WithLabelValues("done").Inc()
	c.metrics.seconds.Observe(time.Since(began).Seconds())
	if !*stored {
		out.First = append(out.First, chained)
	}
	return out, nil
}

// message returns msg as a parser input. stored reports whether the parser has had chained stored.
func (c *Chain) message(msg, chained *nats.Msg) (m *Message, stored *bool) {
	stored = new(bool)
	return &Message{
		Subject: chained.Subject, Header: chained.Header, Data: msg.Data, Stream: messages.StreamPages, Deliveries: 1, Stored: time.Now(),
		store: func(ctx context.Context) (uint64, error) {
			seqs, err := c.pub.PublishSequenced(ctx, []*nats.Msg{chained})
			*stored = err == nil
			return seqs[0], err
		},
	}, stored
}

// traced parses a page, in its own span if the visit is traced.
func (c *Chain) traced(ctx context.Context, page *messages.Page, m *Message) (Output, error) {
	ctx, span := tracing.Child(ctx, verbs[messages.StageParser], trace.SpanKindInternal)
	if span != nil {
		setMessage(span, messages.StageParser, m, MessageContext{Crawl: page.Crawl, URL: page.URL, Visit: page.Visit, Attempt: page.Attempt})
	}
	out, err := Recovered(func() (Output, error) { return c.parse(ctx, page, m) })
	if err == nil {
		err = c.tooLarge(out)
	}
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	endSpan(span, outcome)
	return out, err
}

// tooLarge returns an error for an output that the server would never accept: the parser publishes
// its dead letter.
func (c *Chain) tooLarge(out Output) error {
	for _, m := range out.Messages() {
		if int64(m.Size()) > c.bus.NC.MaxPayload() {
			return Unpublishable(m, nats.ErrMaxPayload)
		}
	}
	return nil
}

// Locate makes sure that m has a sequence: it stores a message that a Chain passed on.
func (m *Message) Locate(ctx context.Context) (err error) {
	if m.store != nil && m.Sequence == 0 {
		m.Sequence, err = m.store(ctx)
	}
	return err
}
