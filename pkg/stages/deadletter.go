package stages

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
)

// DeadLetter returns the message for DEAD that says why stage gave up on m.
func DeadLetter(stage string, m *Message, why error) *nats.Msg {
	d := messages.Dead{
		Stage: stage, Crawl: messages.CrawlOf(m.Subject), Reason: why.Error(),
		Subject: m.Subject, Stream: m.Stream, Sequence: m.Sequence, Tries: m.Deliveries,
		Time: time.Now(), Header: m.Header, Payload: m.Data,
	}
	return d.Msg()
}

// PublishDead publishes dead letters. One that is too large with what it holds
// goes without that: where the message was read must do.
func PublishDead(ctx context.Context, pub *Publisher, letters ...*nats.Msg) error {
	for _, m := range letters {
		err := pub.Publish(ctx, m)
		if errors.Is(err, ErrUnpublishable) {
			err = pub.Publish(ctx, briefLetter(m))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// briefLetter is a dead letter without the payload and headers of the message.
func briefLetter(m *nats.Msg) *nats.Msg {
	brief := nats.NewMsg(m.Subject)
	for k, v := range m.Header {
		if strings.HasPrefix(k, "Seine-Dead-") || k == nats.MsgIdHdr {
			brief.Header[k] = v
		}
	}
	return brief
}
