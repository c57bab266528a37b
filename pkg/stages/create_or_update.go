package stages

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/pkg/messages"
	"seine/pkg/stages/jsclient"
)

// CreateOrUpdate makes what is missing, and brings up to date what is there. The
// library's own CreateOrUpdate asks in the other order, so that each of a new server's streams
// takes two requests, not one.
func CreateOrUpdate[C, T any](ctx context.Context, config C, create, update func(context.Context, C) (T, error)) error {
	return hint(jsclient.RetryUnavailable(ctx, func(ctx context.Context) error { return createOrUpdateOnce(ctx, config, create, update) }))
}

func createOrUpdateOnce[C, T any](ctx context.Context, config C, create, update func(context.Context, C) (T, error)) error {
	_, err := create(ctx, config)
	if _, refused := errors.AsType[jetstream.JetStreamError](err); !refused {
		return err
	}
	// It may be there already, and the account's limits leave no room for another.
	_, updated := update(ctx, config)
	if errors.Is(updated, jetstream.ErrStreamNotFound) || errors.Is(updated, jetstream.ErrBucketNotFound) {
		return err
	}
	return updated
}

// ErrForeign is returned when the account has something of another application under a name or a subject of Seine's.
var ErrForeign = errors.New("of another application: give Seine a NATS account of its own (docs/operations.md#an-account-for-seine), or remove it")

// checkOwner returns ErrForeign if a stream of another application has the name of one of Seine's. It asks for all at a time.
func (b *Bus) checkOwner(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, name := range messages.StreamNames() {
		g.Go(func() error {
			s, err := b.JS.Stream(ctx, name)
			switch {
			case errors.Is(err, jetstream.ErrStreamNotFound):
				return nil
			case err != nil:
				return fmt.Errorf("look at stream %s: %w", name, err)
			}
			info := s.CachedInfo()
			if info.Config.Metadata[messages.MetadataOwner] == "" {
				return fmt.Errorf("stream %s, with %d messages and the subjects %s, is %w", name, info.State.Msgs, strings.Join(info.Config.Subjects, " "), ErrForeign)
			}
			return nil
		})
	}
	return g.Wait() //nolint:wrapcheck // says all
}

// hint says what to do when the streams do not fit the servers.
func hint(err error) error {
	api, ok := errors.AsType[*jetstream.APIError](err)
	if !ok {
		return err
	}
	switch api.ErrorCode {
	case codeStorage:
		return fmt.Errorf("%w (JetStream reserves the limits of all streams, and they must fit the server's max_file_store, by default three quarters of the free disk: raise it, or lower the frontier's --snapshot-bytes, --pages-bytes and the like)", err)
	case codeNoPeers, codeUnclustered:
		return fmt.Errorf("%w (each replica needs a server of its own in the cluster, with JetStream and room for the stream: start them, or lower --replicas)", err)
	case codeOverlap:
		return fmt.Errorf("%w: a stream has subjects of this one (nats stream find --subject), and is %w", err, ErrForeign)
	default:
		return err
	}
}

// Errors of the JetStream API for what the servers have no room for.
const (
	codeStorage     = 10047 // limits that do not fit the account
	codeNoPeers     = 10005 // fewer servers than replicas, or no room on as many
	codeUnclustered = 10074 // replicas, on a server that is in no cluster
	codeOverlap     = 10065 // subjects of another stream
)
