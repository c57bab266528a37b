package jsclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
)

// CodeUnavailable is the error "JetStream system temporarily unavailable".
const CodeUnavailable jetstream.ErrorCode = 10008

// Errors of the JetStream API that a cluster returns while it has no leader for itself, for a
// stream or for a consumer.
var codesUnavailable = []jetstream.ErrorCode{
	CodeUnavailable,
	10009, // JetStream cluster can not handle request
	10118, // stream is offline
	10119, // consumer is offline
	10163, // expected last sequence per subject temporarily unavailable
}

// Unavailable reports whether err says that the server, or the responsible part of a cluster, is
// unavailable now. The requested operation may have been executed.
func Unavailable(err error) bool {
	for _, e := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
		jetstream.ErrNoStreamResponse, jetstream.ErrJetStreamNotEnabled, jetstream.ErrAsyncPublishTimeout, ErrConsumersSilent,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && slices.Contains(codesUnavailable, api.ErrorCode)
}

// electionTime is how long a cluster with enough servers may be without a leader, with a wide
// margin.
const electionTime = time.Minute

// Bucket opens a bucket for a stage that starts. The stage has found the streams, so a bucket that
// does not answer now will later.
func (c *Client) Bucket(ctx context.Context, name string) (kv jetstream.KeyValue, err error) {
	err = RetryUnavailable(ctx, func(ctx context.Context) (err error) {
		kv, err = c.JS.KeyValue(ctx, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", name, err)
	}
	return kv, nil
}

// RetryUnavailable repeats a request while its server is unavailable: a cluster that elects a
// leader or changes its replicas leaves requests unanswered. The error is the last of the request,
// joined with that of ctx if it ended.
func RetryUnavailable(ctx context.Context, request func(context.Context) error) error {
	for began := time.Now(); ; {
		once, cancel := AnswerWithin(ctx)
		err := request(once)
		cancel()
		if !Unavailable(err) || time.Since(began) > electionTime {
			return err
		}
		if ended := sleep.For(ctx, MaxRefusedWait/4); ended != nil {
			return errors.Join(ended, err)
		}
	}
}
