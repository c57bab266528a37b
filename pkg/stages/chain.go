package stages

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"seine/internal/base/tracing"
	"seine/pkg/messages"
)

// Chain is a parser to which a fetcher in the same process hands its pages in memory, as stream processors chain
// operators: the page is stored for all readers of PAGES, but the server need not bring it back, nor keep track of who
// works on it. What the parser makes of the page is published by the fetcher, before the result of its request; a
// process that dies before that has its requests delivered again.
type Chain struct {
	bus     *Bus
	pub     *Publisher
	metrics *metrics
	parse   func(context.Context, *messages.Page, *Message) (Output, error)
	workers chan struct{} // has a place for each page in work, so that 64 fetches at a time do not mean 64 of them
}

// NewChain returns the chain to a parser, which parses at most so many pages at a time by it.
func NewChain(bus *Bus, workers int, parse func(context.Context, *messages.Page, *Message) (Output, error)) *Chain {
	return &Chain{
		bus: bus, pub: NewPublisher(bus, messages.StageParser), metrics: metricsFor(messages.StageParser),
		parse: parse, workers: make(chan struct{}, workers),
	}
}

// Handle has a page parsed that is in msg, which was not published, and returns what is to be published of both,
// before the result of the request. Body is the body of the page without its content codings, if the caller has it; it may
// change after the call. The end of the visit comes after everything else of it, so a reader of RESULTS or
// of the end of the visit finds the page and all that was made of it. After an error the caller decides what becomes
// of the page: nothing of it was published then, except, perhaps, the page for other readers.
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

// message returns msg as the parser takes it, and whether that has had it stored, as chained.
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

// traced parses a page, in a separate span if its visit is traced.
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

// tooLarge returns an error for what the server would never take: its dead letter is the parser's.
func (c *Chain) tooLarge(out Output) error {
	for _, m := range out.Messages() {
		if int64(m.Size()) > c.bus.NC.MaxPayload() {
			return Unpublishable(m, nats.ErrMaxPayload)
		}
	}
	return nil
}

// Locate sees to it that the sequence of m is known: one that a Chain has handed on is stored for that.
func (m *Message) Locate(ctx context.Context) (err error) {
	if m.store != nil && m.Sequence == 0 {
		m.Sequence, err = m.store(ctx)
	}
	return err
}
