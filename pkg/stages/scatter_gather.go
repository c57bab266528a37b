package stages

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// Time limits for the answers to a scattered query.
const (
	gatherSilence = 150 * time.Millisecond // after the last answer
	gatherTime    = 2 * time.Second
)

// ScatterGather sends a query to all subscribers of a subject, and passes each answer to heard. It
// waits gatherTime for the first answer, if the subject has subscribers. Then a silence of
// gatherSilence ends it: slower answers are lost.
func ScatterGather(ctx context.Context, nc *nats.Conn, subject string, question []byte, heard func(data []byte)) error {
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return fmt.Errorf("query %s: %w", subject, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := nc.PublishRequest(subject, inbox, question); err != nil {
		return fmt.Errorf("query %s: %w", subject, err)
	}
	ctx, cancel := context.WithTimeout(ctx, gatherTime)
	defer cancel()
	for silence := gatherTime; ; silence = gatherSilence {
		quiet, stop := context.WithTimeout(ctx, silence)
		m, err := sub.NextMsgWithContext(quiet)
		stop()
		if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("query %s: %w", subject, err)
		}
		heard(m.Data)
	}
}
