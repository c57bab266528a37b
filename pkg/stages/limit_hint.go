package stages

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/humanize"
	"seine/internal/streams/drift"
)

// Account returns the usage and the limits of the account for streams with a number of replicas: an
// account may have limits for each number.
func Account(ctx context.Context, b *Bus, replicas int) (jetstream.Tier, error) {
	info, err := b.JS.AccountInfo(ctx)
	if err != nil {
		return jetstream.Tier{}, fmt.Errorf("%w: JetStream does not respond: %w (start nats-server with -js)", ErrServer, err)
	}
	if tier, ok := info.Tiers[fmt.Sprint("R", replicas)]; ok {
		return tier, nil
	}
	return info.Tier, nil
}

// streamHint adds advice to an error of the JetStream API about a stream.
func streamHint(p *provisioner, want jetstream.StreamConfig, err error) error {
	account, limits := p.account, p.account.Limits
	const servers = "each replica needs its own server in the cluster, with JetStream and space for the stream: start more servers, or lower --replicas"
	err = withHint(err, map[jetstream.ErrorCode]string{
		10005: servers, 10074: servers,
		10027: fmt.Sprintf("Seine needs %d streams; the account has %d, its max_streams is %d: raise that", len(p.Streams()), account.Streams, limits.MaxStreams),
		10047: fmt.Sprintf("JetStream reserves max_bytes of each stream, %s for all of Seine; the account has reserved %s, its max_storage is %d, -1 for no limit. "+
			"Raise max_file_store of the server, by default three quarters of the free disk, and max_storage; or lower the frontier's --snapshot-bytes, --pages-bytes, "+
			"--records-bytes, --bodies-bytes, --urls-bytes, --results-bytes, --seeds-bytes and --dead-bytes", humanize.Size(p.Bytes()), humanize.Size(int64(account.ReservedStore)), limits.MaxStore),
		10065: "a stream has subjects of this one: nats stream find --subject",
		10122: fmt.Sprintf("the stream needs %d bytes, the account allows %d: raise its max_bytes, or lower the frontier's flag for the stream, such as --pages-bytes", want.MaxBytes, limits.StoreMaxStreamBytes),
	})
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && strings.Contains(api.Description, "duplicates window") { // 10052 has other causes, too
		err = fmt.Errorf("%w (the stream needs duplicate_window %s: raise the limits in the jetstream block of the server)", err, want.Duplicates)
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == 10065 {
		return fmt.Errorf("%w; it is %w", err, ErrForeign)
	}
	return err
}

// consumerHint adds advice to an error of the JetStream API about a consumer.
func consumerHint(stream string, config jetstream.ConsumerConfig, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", drift.ConsumerObject(stream, config.Durable), withHint(err, map[jetstream.ErrorCode]string{
		10026: "raise max_consumers of the stream or of the account, or remove unused consumers: nats consumer report " + stream,
		10100: "remove the consumer that takes the same messages: nats consumer report " + stream + ", nats consumer rm",
		10121: fmt.Sprintf("it needs max_ack_pending %d: raise the limit of the account, or in the jetstream block of the server", config.MaxAckPending),
	}))
}

// withHint adds the hint for its code to an error of the JetStream API.
func withHint(err error, hints map[jetstream.ErrorCode]string) error {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && hints[api.ErrorCode] != "" {
		return fmt.Errorf("%w (%s)", err, hints[api.ErrorCode])
	}
	return err
}
