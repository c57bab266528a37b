package stages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// Suspect reports whether a request may have been done before: it is delivered
// again, or it is from before the connection was last lost. A broker that was
// killed forgets the acknowledgements of its last tenth of a second, and then
// does not even know that it delivers again.
func (b *Bus) Suspect(m *Message) bool {
	lost := time.Unix(0, b.reconnected.Load())
	return m.Deliveries > 1 || m.Stored.Before(lost.Add(clockSkew))
}

// clockSkew is how far the clocks of a broker and of a worker may be apart.
const clockSkew = 5 * time.Second

// Release makes the streams deliver at once what workers held that are known
// to be gone, rather than after AckWait, and what is delivered suspect. Only who
// knows that there are no other workers may call it.
func (b *Bus) Release(ctx context.Context) error {
	b.reconnected.Store(time.Now().UnixNano())
	for stream, durable := range map[string]string{
		messages.StreamSeeds: messages.ConsumerSeeds, messages.StreamFetch: messages.ConsumerFetch, messages.StreamPages: messages.ConsumerParse,
	} {
		// A reset of a consumer that was never made gets no answer (2.15.2).
		_, err := b.JS.Consumer(ctx, stream, durable)
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			continue
		}
		if err == nil {
			_, err = b.JS.ResetConsumer(ctx, stream, durable)
		}
		if err != nil {
			return fmt.Errorf("release %s: %w", durable, err)
		}
	}
	return nil
}

// Waits between questions to a frontier.
const (
	behindWait     = 20 * time.Millisecond
	unansweredWait = 500 * time.Millisecond
)

// Wanted asks the frontier whether the result of a request is still to come.
// Doing a request whose result it has would show the host one more request,
// which the host's delay knows nothing of. It waits for a frontier that is
// away, until ctx is done.
func (b *Bus) Wanted(ctx context.Context, req *messages.Request) (bool, error) {
	subject := messages.SubjectFrontier(messages.OpWanted, messages.Partition(req.URL, b.Layout.Partitions))
	for {
		var answer messages.Wanted
		qctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		m, err := b.NC.RequestWithContext(qctx, subject, req.Encode())
		cancel()
		wait := unansweredWait
		if err == nil {
			if err = json.Unmarshal(m.Data, &answer); err == nil && !answer.Behind {
				return answer.Wanted, nil
			}
			wait = behindWait
		}
		if Sleep(ctx, wait) != nil {
			return false, fmt.Errorf("ask the frontier about %s: %w", messages.Clip(req.URL), ctx.Err())
		}
	}
}
