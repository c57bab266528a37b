package stages

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"seine/internal/base/tracing"
	"seine/pkg/messages"
)

// Chain is a parser to which a fetcher in the same process hands its pages in memory, as stream processors chain
// operators: the page is stored for all who read PAGES, but the server need not bring it back, nor keep track of who
// works on it. What the parser makes of the page is published by the fetcher, before the result of its request; a
// process that dies before that has its requests delivered again.
type Chain struct {
	bus     *Bus
	pub     *Publisher
	metrics *metrics
	parse   func(context.Context, *messages.Page, *Message) (Output, error)
	workers chan struct{} // has as many as parse at a time
}

// NewChain returns the chain to a parser, which parses at most so many pages at a time by it.
func NewChain(bus *Bus, workers int, parse func(context.Context, *messages.Page, *Message) (Output, error)) *Chain {
	return &Chain{
		bus: bus, pub: NewPublisher(bus, messages.StageParser), metrics: metricsFor(messages.StageParser),
		parse: parse, workers: make(chan struct{}, workers),
	}
}

// Handle has a page parsed that is in msg, which was not published, and returns what is to be published of both,
// before the result of the request: the end of the visit comes after all else, so who has that and the result has all. An
// error leaves it to the caller what becomes of the page: nothing of it was published then but, perhaps, the page
// for other readers.
func (c *Chain) Handle(ctx context.Context, page *messages.Page, msg *nats.Msg) (Output, error) {
	select {
	case c.workers <- struct{}{}:
	case <-ctx.Done():
		return Output{}, ctx.Err()
	}
	defer func() { <-c.workers }()
	began, stored := time.Now(), false
	chained := messages.ChainedMsg(msg)
	m := &Message{
		Subject: msg.Subject, // to which a dead letter of it goes back
		Header:  chained.Header, Data: msg.Data, Stream: messages.StreamPages, Deliveries: 1, Stored: began,
	}
	m.store = func(ctx context.Context) (uint64, error) {
		seqs, err := c.pub.PublishSequenced(ctx, []*nats.Msg{chained})
		stored = err == nil
		return seqs[0], err
	}
	ctx, span := c.startSpan(ctx, page, m)
	out, err := c.recovered(ctx, page, m)
	if err == nil {
		err = c.tooLarge(out)
	}
	endSpan(span, map[bool]string{true: "done", false: "failed"}[err == nil])
	if err != nil {
		c.bus.Log.Log(ctx, slog.LevelDebug, "page is left to the parsers of PAGES", "crawl", page.Crawl, "url", page.URL, "error", err)
		return Output{}, err
	}
	c.metrics.handled.WithLabelValues("done").Inc()
	c.metrics.seconds.Observe(time.Since(began).Seconds())
	if !stored {
		out.First = append(out.First, chained)
	}
	return out, nil
}

func (c *Chain) recovered(ctx context.Context, page *messages.Page, m *Message) (out Output, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v, debug.Stack())
		}
	}()
	return c.parse(ctx, page, m)
}

// tooLarge returns an error for what the server would never take: its dead letter is the parser's.
func (c *Chain) tooLarge(out Output) error {
	for _, m := range append(out.First[:len(out.First):len(out.First)], out.Then...) {
		if int64(m.Size()) > c.bus.NC.MaxPayload() {
			return Unpublishable(m, nats.ErrMaxPayload)
		}
	}
	return nil
}

// startSpan starts the span of the parser's work on a page whose visit is traced, nil if it is not.
func (c *Chain) startSpan(ctx context.Context, page *messages.Page, m *Message) (context.Context, trace.Span) {
	ctx, span := tracing.Child(ctx, verbs[messages.StageParser], trace.SpanKindInternal)
	if span != nil {
		span.SetAttributes(MessageAttributes(messages.StageParser, m)...)
		span.SetAttributes(MessageContext{Crawl: page.Crawl, URL: page.URL, Visit: page.Visit, Attempt: page.Attempt}.Attributes()...)
	}
	return ctx, span
}

// Locate sees to it that the sequence of m is known: one that a Chain has handed on is stored for that.
func (m *Message) Locate(ctx context.Context) (err error) {
	if m.store != nil && m.Sequence == 0 {
		m.Sequence, err = m.store(ctx)
	}
	return err
}
