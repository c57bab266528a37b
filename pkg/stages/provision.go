package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/sleep"
	"seine/internal/streams/drift"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// ErrForeign is returned when another application uses a stream name or a subject of Seine in the
// account.
var ErrForeign = errors.New("of another application: give Seine its own NATS account (docs/guides/stages.md#give-seine-its-own-account), or remove it")

// Provision creates missing streams and buckets, and restores the configuration of the others. It
// returns ErrLayout if the number of partitions differs from the stored one, which cannot change.
func (b *Bus) Provision(ctx context.Context, partitions int, limits messages.StreamLimits, replicas int) error {
	if partitions < 1 || partitions > messages.MaxPartitions {
		return fmt.Errorf("%d partitions: must be from 1 to %d", partitions, messages.MaxPartitions)
	}
	if err := b.checkServer(ctx); err != nil {
		return err
	}
	p := provisioner{Bus: b, Provisioned: messages.Provisioned{Limits: limits, Replicas: replicas}}
	err := p.run(ctx, func(ctx context.Context) error {
		kv, err := b.JS.KeyValue(ctx, messages.BucketMeta)
		if err != nil {
			return fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
		}
		if err = b.agree(ctx, kv, partitions); err == nil {
			_, err = kv.Put(ctx, messages.KeyProvisioned, messages.Encode(p.Provisioned))
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.CheckRestored(ctx) // a restore may have begun meanwhile
}

// provisioner creates the streams of a server and restores their configuration.
type provisioner struct {
	*Bus
	messages.Provisioned
	account jetstream.Tier
	again   bool // whether the cluster was complete before
	// reconnects is the client's reconnect count when the layout was compared: another server may
	// have answered since.
	reconnects uint64
}

// errReconnected is returned if the layout must be compared again before anything is created.
var errReconnected = errors.New("the connection was lost while the streams were compared")

// run creates missing streams and restores edited ones. It calls agree once the buckets exist.
func (p *provisioner) run(ctx context.Context, agree func(context.Context) error) error {
	err := jsclient.RetryUnavailable(ctx, func(ctx context.Context) (err error) {
		p.account, err = Account(ctx, p.Bus, p.Replicas)
		return err
	})
	if err != nil {
		return err
	}
	p.Bounded = p.account.Limits.MaxBytesRequired
	all := p.Streams()
	have := make([]*jetstream.StreamInfo, len(all))
	err = eachStream(all, func(i int) error {
		return jsclient.RetryUnavailable(ctx, func(ctx context.Context) (err error) {
			have[i], err = StreamInfo(ctx, p.Bus, all[i].Name)
			if err == nil && have[i] != nil && have[i].Config.Metadata[messages.MetadataOwner] == "" {
				info := have[i]
				err = fmt.Errorf("stream %s, with %d messages and the subjects %s, is %w", info.Config.Name, info.State.Msgs, strings.Join(info.Config.Subjects, " "), ErrForeign)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if p.again && slices.Contains(have, nil) { // a stream was deleted
		if err := sleep.For(ctx, jsclient.DeletionTime); err != nil {
			return err
		}
	}
	buckets, last := slices.IndexFunc(all, func(s jetstream.StreamConfig) bool { return !strings.HasPrefix(s.Name, "KV_") }), len(all)-1
	// One after the other: a server that creates several at once reserves more than it has, and
	// then also refuses lower limits.
	restore := func(from, to int) error {
		for i := from; i < to; i++ {
			if err := p.restore(ctx, all[i], have[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if err = restore(0, buckets); err == nil {
		err = jsclient.RetryUnavailable(ctx, agree)
	}
	if err == nil {
		err = restore(buckets, last)
	}
	if err == nil { // Join treats the last object as the sign that provisioning is complete
		err = restore(last, last+1)
	}
	return err
}

// eachStream calls do for all streams concurrently.
func eachStream(all []jetstream.StreamConfig, do func(i int) error) error {
	var g errgroup.Group
	for i := range all {
		g.Go(func() error { return do(i) })
	}
	return g.Wait()
}

// Subjects returns the state of a stream, including the number of messages of each subject that
// matches filter.
func Subjects(ctx context.Context, b *Bus, stream, filter string) (jetstream.StreamState, error) {
	s, err := b.JS.Stream(ctx, stream)
	var info *jetstream.StreamInfo
	if err == nil {
		info, err = s.Info(ctx, jetstream.WithSubjectFilter(filter))
	}
	if err != nil {
		return jetstream.StreamState{}, fmt.Errorf("list the subjects of stream %s: %w", stream, err)
	}
	return info.State, nil
}

// StreamInfo returns the state of a stream, or nil if it does not exist.
func StreamInfo(ctx context.Context, b *Bus, name string) (*jetstream.StreamInfo, error) {
	s, err := b.JS.Stream(ctx, name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("inspect stream %s: %w", name, err)
	}
	return s.CachedInfo(), nil
}

// restore creates a stream, or restores its configuration if it differs.
func (p *provisioner) restore(ctx context.Context, want jetstream.StreamConfig, have *jetstream.StreamInfo) error {
	differences := drift.Stream(want, have)
	if len(differences) == 0 {
		return nil
	}
	do, config := p.JS.CreateStream, want
	if have != nil {
		do, config = p.JS.UpdateStream, drift.Restored(want, have.Config)
	}
	err := jsclient.RetryUnavailable(ctx, func(ctx context.Context) error {
		if p.again && (!p.NC.IsConnected() || p.NC.Stats().Reconnects != p.reconnects) {
			return errReconnected
		}
		_, err := do(ctx, config)
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrStreamNameAlreadyInUse): // another frontier was faster
	case err != nil && have == nil:
		return fmt.Errorf("create %s: %w", drift.StreamObject(want.Name), streamHint(p, want, err))
	case err != nil:
		return fmt.Errorf("%s: %w; %s", drift.Text(differences), streamHint(p, want, err), differences[0].Repair)
	}
	if p.again {
		p.Log.Warn("restored the configuration of a stream", "stream", want.Name, "differences", drift.Text(differences))
	}
	return nil
}

// ReadProvisioned returns the limits and replicas that the streams were provisioned with.
func ReadProvisioned(ctx context.Context, b *Bus) (p messages.Provisioned, err error) {
	rev, err := b.ReadJSON(ctx, messages.BucketMeta, messages.KeyProvisioned, &p)
	if err == nil && rev == 0 {
		err = jetstream.ErrKeyNotFound
	}
	if err != nil {
		return p, fmt.Errorf("read from bucket %s how the streams were provisioned (a frontier writes it when it starts): %w", messages.BucketMeta, err)
	}
	return p, nil
}

// defaultCheckEvery is how often a process compares the NATS objects that it uses with their
// configuration.
const defaultCheckEvery = 10 * time.Second

// KeepProvisioned compares the streams with their provisioned configuration every CheckEvery until
// ctx is done. It re-creates missing streams and restores edited ones. It does not touch a server
// with another layout than this process's: that is a different server, or one that has lost its
// data.
func KeepProvisioned(ctx context.Context, b *Bus) {
	for sleep.For(ctx, b.CheckEvery) == nil {
		err := reprovision(ctx, b)
		if ctx.Err() == nil && (err == nil || b.NC.IsConnected()) {
			b.Troubles.Note("streams", err)
		}
	}
}

func reprovision(ctx context.Context, b *Bus) error {
	p := provisioner{Bus: b, again: true, reconnects: b.NC.Stats().Reconnects}
	if err := b.CheckInstallation(ctx); err != nil {
		return fmt.Errorf("%w (if this is the server of the crawls, restart the frontier, which provisions it)", err)
	}
	if err := b.CheckRestored(ctx); err != nil {
		return err
	}
	var err error
	if p.Provisioned, err = ReadProvisioned(ctx, b); err != nil {
		return err
	}
	return p.run(ctx, func(context.Context) error { return nil })
}

// KeepConsumer compares a consumer with its configuration every CheckEvery until ctx is done, and
// restores it if it was edited. A missing consumer is left to its readers, which notice at once.
func KeepConsumer(ctx context.Context, b *Bus, stream string, config jetstream.ConsumerConfig) {
	object := drift.ConsumerObject(stream, config.Durable) + " compared"
	for sleep.For(ctx, b.CheckEvery) == nil {
		c, err := b.JS.Consumer(ctx, stream, config.Durable)
		if err != nil {
			continue
		}
		differences := drift.Consumer(stream, config, c.CachedInfo())
		if len(differences) > 0 && !c.CachedInfo().Paused {
			b.Log.Warn("restoring the configuration of a consumer", "differences", drift.Text(differences))
			if c, err = b.OpenConsumer(ctx, stream, config); err == nil {
				differences = drift.Consumer(stream, config, c.CachedInfo())
			}
		}
		if len(differences) > 0 {
			err = errors.Join(fmt.Errorf("%s; %s", drift.Text(differences), differences[0].Repair), err)
		}
		if err == nil {
			err = b.continueConsumer(ctx, c.CachedInfo())
		}
		b.Troubles.Note(object, err)
	}
	b.Troubles.Note(object, nil)
}
