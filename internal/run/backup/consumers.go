package backup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"seine/pkg/stages"
	"seine/pkg/stages/jsclient"
)

// durableConsumers returns the names of the durable consumers of a stream, none for the stream of a bucket.
func durableConsumers(ctx context.Context, b *stages.Bus, stream string) (names []string, err error) {
	if isBucket(stream) {
		return nil, nil
	}
	err = jsclient.RetryUnavailable(ctx, func(ctx context.Context) error {
		all, err := b.Consumers(ctx, stream)
		names = nil
		for _, c := range all {
			if c.Config.Durable != "" {
				names = append(names, c.Config.Durable)
			}
		}
		return err //nolint:wrapcheck // says all
	})
	return names, err //nolint:wrapcheck // says all
}

// awaitConsumers waits until a stream has its consumers: the servers of a cluster assign them after they have told that it is
// restored (nats-server 2.15.2). A stage that comes before makes its own, and reads from the beginning.
func (r *Restore) awaitConsumers(ctx context.Context, s Stream) error {
	if len(s.Consumers) == 0 {
		return nil
	}
	r.Progress.Say("waiting for the consumers of %s", s.Name)
	return jsclient.RetryUnavailable(ctx, func(ctx context.Context) error { //nolint:wrapcheck // says all
		have, err := durableConsumers(ctx, r.Bus, s.Name)
		if err != nil {
			return err
		}
		missing := slices.DeleteFunc(slices.Clone(s.Consumers), func(name string) bool { return slices.Contains(have, name) })
		if len(missing) > 0 {
			return fmt.Errorf("stream %s was restored without its consumers: %w: %s", s.Name, jsclient.ErrConsumersSilent, strings.Join(missing, ", "))
		}
		return nil
	})
}
