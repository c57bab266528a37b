package frontier

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"seine/pkg/messages"
)

// outgoing is a request to publish to FETCH, and its sequence there once it is published.
type outgoing struct {
	wire *messages.Request
	seq  uint64
	made time.Time
}

// post passes requests to the outbox. The intake continues while they are published.
func (p *partitionLoop) post(out []outgoing) {
	if len(out) == 0 {
		return
	}
	p.publishing++
	p.outbox <- out // has capacity: see due
}

// publish publishes requests to FETCH. A full stream blocks this goroutine, and so the dispatch,
// but never the loop.
func (p *partitionLoop) publish(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case batch := <-p.outbox:
			sent, err := p.publishBatch(ctx, batch)
			if err != nil {
				return err
			}
			select {
			case p.published <- sent:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

func (p *partitionLoop) publishBatch(ctx context.Context, batch []outgoing) ([]outgoing, error) {
	msgs := make([]*nats.Msg, len(batch))
	var spans []trace.Span
	for i, o := range batch {
		subject := messages.SubjectFetch
		if o.wire.Render {
			subject = messages.SubjectRender
		}
		m := nats.NewMsg(subject(o.wire.Crawl, p.partition))
		m.Header.Set(nats.MsgIdHdr, o.wire.ID())
		m.Data = o.wire.Encode()
		msgs[i] = m
		spans = p.traceRequest(ctx, &batch[i], m, spans)
	}
	seqs, err := p.f.pub.PublishSequenced(ctx, msgs)
	for _, span := range spans {
		span.End()
	}
	if err != nil {
		return nil, err
	}
	for i, seq := range seqs {
		batch[i].seq = seq
	}
	return batch, nil
}

// recordSequences records the FETCH sequences of published requests.
func (p *partitionLoop) recordSequences(sent []outgoing) {
	p.publishing--
	for _, s := range sent {
		p.state.Requests.MarkSent(s.wire, s.seq)
	}
}
