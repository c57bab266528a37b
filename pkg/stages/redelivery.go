package stages

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// MaybeStale reports whether a request may have been done before, and until when another process
// can have begun it. A request is stale in these cases:
//
//   - It is redelivered.
//   - It was stored before this process joined the cluster, the connection was last lost, or another node was last elected leader of
//     the consumer. A backup contains requests that were done while it was made. A killed broker loses the acknowledgements of its
//     last tenth of a second, and so does a cluster whose leader was killed. A leader that was cut off delivers messages that others
//     have finished, until it learns of its loss of leadership. These redeliveries are not marked as such.
//   - This process was stalled while the message was in transit.
//   - The message is from the future by the server's clock, so it may predate any of these events.
func (b *Bus) MaybeStale(m *Message) (until time.Time, stale bool) {
	if m.Deliveries > 1 || b.pulse.stalled() {
		return time.Now(), true
	}
	doubt, trusted := b.staleBefore.Load(), b.trusted.Load()
	if doubt == nil || trusted != nil && trusted.doubt == doubt && m.Stream == messages.StreamFetch && m.Sequence > trusted.after {
		return time.Time{}, false
	}
	at := time.Now().Add(-time.Since(*doubt)) // the clock may have been set since
	return *doubt, m.Stored.Before(at.Add(clockSkew)) || m.Stored.After(time.Now().Add(clockSkew))
}

// MarkStale marks all messages stored so far as suspect.
func (b *Bus) MarkStale() {
	now := time.Now()
	b.staleBefore.Store(&now)
}

// trustedRequests are the requests after a sequence of FETCH: they were stored after a doubt,
// whatever the clocks say.
type trustedRequests struct {
	doubt *time.Time // the value of Bus.staleBefore; none are trusted after a later doubt
	after uint64
}

// TrustNewRequests records the last sequence of FETCH, so that requests stored from now on are not
// suspect merely because clocks may differ.
func TrustNewRequests(ctx context.Context, b *Bus) {
	doubt := b.staleBefore.Load()
	if doubt == nil {
		return
	}
	if fetch, err := StreamInfo(ctx, b, messages.StreamFetch); err == nil && fetch != nil {
		b.trusted.Store(&trustedRequests{doubt, fetch.State.LastSeq})
	}
}

// MarkStaleOnElection marks stored messages as suspect whenever a node of the cluster is elected
// leader of a consumer, until stop is called.
func (b *Bus) MarkStaleOnElection(stream, durable string) (stop func(), err error) {
	s, err := b.NC.Subscribe("$JS.EVENT.ADVISORY.CONSUMER.LEADER_ELECTED."+stream+"."+durable, func(*nats.Msg) { b.MarkStale() })
	if err != nil {
		return nil, fmt.Errorf("listen for leaders of %s: %w", durable, err)
	}
	return func() { _ = s.Unsubscribe() }, nil
}

// connectionPoll is the polling interval of AwaitConnection.
const connectionPoll = 50 * time.Millisecond

// AwaitConnection waits for a connection to NATS. Messages held by a process without a connection
// may have been redelivered to another process.
func (b *Bus) AwaitConnection(ctx context.Context) error {
	for !b.NC.IsConnected() {
		if err := sleep.For(ctx, connectionPoll); err != nil {
			return fmt.Errorf("wait for NATS: %w", err)
		}
	}
	return nil
}

// clockSkew is the largest tolerated difference between the clocks of a broker and a worker.
const clockSkew = 5 * time.Second

// RedeliverUnacked makes the streams redeliver the messages of workers that are known to be gone,
// at once rather than after AckWait, and marks stored messages as suspect. It must be called only
// if there are no other workers.
func (b *Bus) RedeliverUnacked(ctx context.Context) error {
	b.MarkStale()
	for _, c := range []struct{ stream, durable string }{
		{messages.StreamSeeds, messages.ConsumerSeeds}, {messages.StreamFetch, messages.ConsumerFetch}, {messages.StreamFetch, messages.ConsumerRender},
		{messages.StreamPages, messages.ConsumerParse},
	} {
		// A reset of a consumer that was never created gets no answer (2.15.2).
		_, err := b.JS.Consumer(ctx, c.stream, c.durable)
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			continue
		}
		if err == nil {
			_, err = b.JS.ResetConsumer(ctx, c.stream, c.durable)
		}
		if err != nil {
			return fmt.Errorf("mark %s for redelivery: %w", c.durable, err)
		}
	}
	return nil
}

// StoreAcks makes the server store the acknowledgements of all stages. A reset does so at once;
// without it, the server takes up to 0.1 s (nats-server 2.15.2). It must be called only when no
// stage runs any more.
func (b *Bus) StoreAcks(ctx context.Context) error {
	for _, stream := range []string{messages.StreamSeeds, messages.StreamURLs, messages.StreamFetch, messages.StreamPages, messages.StreamResults, messages.StreamRecords} {
		consumers, err := b.Consumers(ctx, stream)
		if err != nil {
			return err
		}
		for _, c := range consumers {
			if c.Config.Durable == "" {
				continue
			}
			if _, err := b.JS.ResetConsumer(ctx, stream, c.Name); err != nil {
				return fmt.Errorf("store the acknowledgements of %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// Waits between claims.
const (
	claimRetryWait = 20 * time.Millisecond
	unansweredWait = 500 * time.Millisecond
)

// ClaimRequest asks the frontier whether the result of a request is still missing. Repeating a
// request with a known result would send the host one more request, which the host's delay does not
// cover. It waits for an absent frontier until ctx is done. The frontier grants a request to one
// claimant at a time; the others wait.
func (b *Bus) ClaimRequest(ctx context.Context, req *messages.Request, claimant string) (bool, error) {
	question := nats.NewMsg(messages.SubjectFrontier(messages.OpClaim, messages.Partition(req.URL, b.Layout.Partitions)))
	question.Header.Set(messages.HeaderClaimant, claimant)
	question.Data = req.Encode()
	retry := claimRetryWait
	for {
		var answer messages.ClaimReply
		qctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		m, err := b.NC.RequestMsgWithContext(qctx, question)
		cancel()
		wait := unansweredWait
		if err == nil {
			if err = jsontext.Unmarshal(m.Data, &answer); err == nil && answer.Error == "" && !answer.Retry {
				return answer.Granted, nil
			}
			wait, retry = retry, min(2*retry, unansweredWait)
		}
		if sleep.For(ctx, wait) != nil {
			return false, fmt.Errorf("claim %s at the frontier: %w", messages.Clip(req.URL), ctx.Err())
		}
	}
}
