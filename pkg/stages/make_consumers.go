package stages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/internal/streams/drift"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// A consumer may push to any subject of its account, whatever its creator may publish: even stored
// messages to streams that the creator may not write. Where a stage has a separate account
// (internal/run/roles), its requests to $JS.API.CONSUMER.CREATE are therefore routed to a frontier.
// The server adds the name of the user to the subject. The frontier creates only consumers that
// push to the user's inboxes or are pulled from, and that cost the server no more than those of the
// stages.

// consumerRequest is a consumer creation request of the JetStream API.
type consumerRequest struct {
	Stream string                   `json:"stream_name"`
	Config jetstream.ConsumerConfig `json:"config"`
	Action string                   `json:"action"`
}

// makeQueue is the queue group of the frontiers that create consumers.
const makeQueue = "seine-consumers"

// Limits on the load that a user can put on a frontier and on the server by creating consumers. All
// are far above the needs of the stages.
const (
	// maxConsumerRequest is the size of a request in bytes. Requests of stages have some 500.
	maxConsumerRequest = 16 << 10
	// maxConsumerRequests is how many requests of one user a frontier handles at a time.
	maxConsumerRequests = 64
	// maxInactiveThreshold is how long the server keeps an ephemeral consumer without a subscriber.
	// It is the client's value for the watch of a bucket.
	maxInactiveThreshold = 5 * time.Minute
	// maxConsumersOfBucket is how many consumers a bucket may have: the default limit of
	// nats-server 2.15; 2.14 has none. A process of a stage has one.
	maxConsumersOfBucket = 1000
	// maxAckPending is how many messages a consumer may have unacknowledged.
	maxAckPending = 1 << 16
	// maxWaiting is how many pull requests may wait at a consumer: the server's default.
	maxWaiting = 512
)

// consumerError is the reason why a frontier refuses to create a consumer.
type consumerError struct {
	jetstream.APIError
	// cause is the same for all requests that are refused for the same reason.
	cause string
}

// forbidConsumer returns the error for a request that will always be refused.
func forbidConsumer(cause, format string, args ...any) *consumerError {
	return &consumerError{jetstream.APIError{
		Code: 403, ErrorCode: jetstream.JSErrCodeBadRequest, Description: "a frontier makes no such consumer: " + fmt.Sprintf(format, args...),
	}, cause}
}

// errTooManyRequests is the answer to a request beyond maxConsumerRequests. Stages retry.
var errTooManyRequests = &consumerError{jetstream.APIError{
	Code: 503, ErrorCode: jsclient.CodeUnavailable, Description: fmt.Sprintf("a frontier is making %d consumers for this user: try again", maxConsumerRequests),
}, "too many at a time"}

// consumerMaker creates consumers for users of other accounts.
type consumerMaker struct {
	*Bus
	mu     sync.Mutex
	active map[string]int     // requests being handled, by user
	logged map[[2]string]bool // refusals that were logged, by user and cause
}

// MakeConsumers creates consumers for users who may not create them directly, until stop is called.
func MakeConsumers(b *Bus) (stop func(), err error) {
	c := &consumerMaker{Bus: b, active: make(map[string]int), logged: make(map[[2]string]bool)}
	sub, err := b.NC.QueueSubscribe(messages.SubjectConsumers("*"), makeQueue, c.serve)
	if err != nil {
		return nil, fmt.Errorf("serve consumer requests: %w", err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// serve handles a request in the background: a stream without a leader must not block requests for
// others.
func (c *consumerMaker) serve(m *nats.Msg) {
	tokens := strings.SplitN(m.Subject, ".", 4)
	if len(tokens) < 4 {
		return
	}
	user, what := tokens[2], tokens[3]
	if !c.begin(user) {
		c.refuse(m, user, errTooManyRequests)
		return
	}
	go func() {
		defer c.end(user)
		c.make(m, user, what)
	}()
}

// begin reports whether one more request of a user may be handled.
func (c *consumerMaker) begin(user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active[user] >= maxConsumerRequests {
		return false
	}
	c.active[user]++
	return true
}

func (c *consumerMaker) end(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active[user]--; c.active[user] == 0 {
		delete(c.active, user)
	}
}

// make forwards a request and its answer. It forwards the decoded request rather than the received
// text: another decoder might read that differently.
func (c *consumerMaker) make(m *nats.Msg, user, what string) {
	request, err := allowedConsumer(m.Data, user)
	if err == nil {
		err = c.checkRoom(request)
	}
	if refused, ok := errors.AsType[*consumerError](err); ok {
		c.refuse(m, user, refused)
		return
	}
	var answer json.RawMessage
	if err == nil {
		err = c.APIRequest(context.Background(), "CONSUMER.CREATE."+what, request, &answer)
	}
	if err == nil {
		err = m.Respond(answer)
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		c.Log.Warn("consumer request refused", "subject", m.Subject, "error", err)
	}
}

// refuse answers a request with a JetStream error, which the client shows. It logs the first
// refusal of each user and cause.
func (c *consumerMaker) refuse(m *nats.Msg, user string, refused *consumerError) {
	text, err := json.Marshal(map[string]any{"type": "io.nats.jetstream.api.v1.consumer_create_response", "error": refused.APIError})
	if err == nil {
		err = m.Respond(text)
	}
	key := [2]string{user, refused.cause}
	c.mu.Lock()
	logged := c.logged[key]
	c.logged[key] = true
	c.mu.Unlock()
	if !logged {
		c.Log.Warn("refused to create a consumer for a user of another account; further refusals of this kind are not logged", "user", user, "asked", m.Subject, "reason", refused.Description)
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		c.Log.Debug("cannot answer", "asked", m.Subject, "error", err)
	}
}

// allowedConsumer returns the request to forward to JetStream, or a consumerError.
func allowedConsumer(data []byte, user string) (request consumerRequest, err error) {
	if len(data) > maxConsumerRequest {
		return request, forbidConsumer("size", "the request has %d bytes, at most %d are read", len(data), maxConsumerRequest)
	}
	if err := jsontext.Unmarshal(data, &request); err != nil {
		return request, forbidConsumer("encoding", "cannot decode the request: %v", err)
	}
	config := &request.Config
	if to := config.DeliverSubject; to != "" && !strings.HasPrefix(to, inboxes+"_"+user+".") {
		return request, forbidConsumer("inbox", "it would push to %q, which is not an inbox of %s", to, user)
	}
	if config.MaxAckPending < 0 || config.MaxAckPending > maxAckPending {
		return request, forbidConsumer("max_ack_pending", "max_ack_pending is %d, must be from 0 to %d", config.MaxAckPending, maxAckPending)
	}
	if config.MaxWaiting > maxWaiting {
		return request, forbidConsumer("max_waiting", "max_waiting is %d, at most %d pull requests may wait", config.MaxWaiting, maxWaiting)
	}
	switch {
	case config.Durable == "": // without a threshold the server keeps it for 5 s
		config.InactiveThreshold = min(config.InactiveThreshold, maxInactiveThreshold)
	case isBucket(request.Stream):
		return request, forbidConsumer("durable", "a bucket is followed by consumers that end with their subscriber, this one would be durable")
	}
	return request, nil
}

// isBucket reports whether stream is a bucket. Its consumers have random names, so a user could
// create any number of them.
func isBucket(stream string) bool { return strings.HasPrefix(stream, "KV_") }

// checkRoom returns a consumerError if the bucket has too many consumers.
func (c *consumerMaker) checkRoom(request consumerRequest) error {
	if !isBucket(request.Stream) {
		return nil
	}
	var info struct {
		Error *jetstream.APIError   `json:"error"`
		State jetstream.StreamState `json:"state"`
	}
	err := c.APIRequest(context.Background(), "STREAM.INFO."+request.Stream, struct{}{}, &info)
	if err == nil && info.Error != nil {
		err = info.Error
	}
	if err != nil {
		return fmt.Errorf("count the consumers of %s: %w", request.Stream, err)
	}
	if have := info.State.Consumers; have >= maxConsumersOfBucket {
		return forbidConsumer("count", "%s has %d consumers, at most %d are made: look for the user that makes them (nats consumer report %s)",
			request.Stream, have, maxConsumersOfBucket, request.Stream)
	}
	return nil
}

// OpenConsumer creates a consumer or updates its configuration. It does not change a consumer that
// is paused or up to date, and re-creates a deleted one after jsclient.DeletionTime. If only
// frontiers may create consumers (see MakeConsumers) and none runs, it returns the existing
// consumer as it is.
func (b *Bus) OpenConsumer(ctx context.Context, stream string, config jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if config.Durable != "" {
		_, again := b.opened.LoadOrStore(stream+" "+config.Durable, nil)
		have, err := b.JS.Consumer(ctx, stream, config.Durable)
		if err == nil && (have.CachedInfo().Paused || len(drift.Consumer(stream, config, have.CachedInfo())) == 0) {
			return have, nil
		}
		if again && errors.Is(err, jetstream.ErrConsumerNotFound) { // the consumer was deleted
			if err := sleep.For(ctx, jsclient.DeletionTime); err != nil {
				return nil, err
			}
		}
	}
	c, err := b.JS.CreateOrUpdateConsumer(ctx, stream, config)
	if errors.Is(err, nats.ErrNoResponders) && config.Durable != "" {
		if have, missing := b.JS.Consumer(ctx, stream, config.Durable); missing == nil {
			return have, nil
		}
	}
	return c, consumerHint(stream, config, err)
}
