package stages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/jsontext"
	"seine/pkg/messages"
)

// A consumer may push to any subject of its account, whatever its maker may publish:
// stored messages to streams that are not his. Where a stage has an account of its own
// (internal/roles), what it asks of $JS.API.CONSUMER.CREATE therefore comes to a
// frontier, with the name of its user in the subject, which the server sets. A consumer
// that pushes to the inboxes of the user, or to nowhere, is made.

// consumerRequest is what JetStream is asked for.
type consumerRequest struct {
	Stream string                   `json:"stream_name"`
	Config jetstream.ConsumerConfig `json:"config"`
	Action string                   `json:"action"`
}

// makeQueue is the queue group of those who make consumers.
const makeQueue = "seine-consumers"

// MakeConsumers makes consumers for users who may not make them alone, until stop is
// called.
func MakeConsumers(b *Bus) (stop func(), err error) {
	sub, err := b.NC.QueueSubscribe(messages.SubjectConsumers("*"), makeQueue, func(m *nats.Msg) {
		go b.makeConsumer(m) // a cluster without a leader must not hold up the rest
	})
	if err != nil {
		return nil, fmt.Errorf("serve who makes consumers: %w", err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// makeConsumer passes a request on, and its answer back. What it has read is what it
// passes on: another reader might find more in the same text.
func (b *Bus) makeConsumer(m *nats.Msg) {
	var answer json.RawMessage
	what, request, err := allowedConsumer(m)
	if err == nil {
		err = b.ask(context.Background(), what, request, &answer)
	}
	if err == nil {
		err = m.Respond(answer)
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		b.Log.Warn("made no consumer", "asked", m.Subject, "error", err)
	}
}

// allowedConsumer returns what JetStream is to be asked for, and with what.
func allowedConsumer(m *nats.Msg) (what string, request consumerRequest, err error) {
	tokens := strings.SplitN(m.Subject, ".", 4)
	if len(tokens) < 4 {
		return "", request, fmt.Errorf("subject %q names no consumer", m.Subject)
	}
	user, what := tokens[2], "CONSUMER.CREATE."+tokens[3]
	if err := jsontext.Unmarshal(m.Data, &request); err != nil {
		return "", request, fmt.Errorf("decode request: %w", err)
	}
	if to := request.Config.DeliverSubject; to != "" && !strings.HasPrefix(to, inboxes+"_"+user+".") {
		return "", request, fmt.Errorf("it would push to %q, which is no inbox of %s", to, user)
	}
	return what, request, nil
}
