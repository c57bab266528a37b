package stages

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"seine/pkg/messages"
)

// Suspect reports whether a request may have been done before: it is delivered
// again, or the connection was lost lately. A broker that was killed forgets
// the acknowledgements of its last tenth of a second, and then does not even
// know that it delivers again.
func (b *Bus) Suspect(deliveries uint64) bool {
	return deliveries > 1 || time.Since(time.Unix(0, b.reconnected.Load())) < 4*messages.AckWait
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
		if sleep(ctx, wait) != nil {
			return false, fmt.Errorf("ask the frontier about %s: %w", messages.Clip(req.URL), ctx.Err())
		}
	}
}
