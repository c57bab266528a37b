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

// ErrForeign is returned when the account has something of another application under a name or a subject of Seine's.
var ErrForeign = errors.New("of another application: give Seine its own NATS account (docs/guides/stages.md#give-seine-its-own-account), or remove it")

// Provision creates the streams and buckets that are missing, and gives the others their configuration. The number of partitions
// cannot change: ErrLayout.
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
	return b.CheckRestored(ctx) // it may have begun meanwhile
}

// provisioner gives the streams of a server their configuration.
type provisioner struct {
	*Bus
	messages.Provisioned
	account jetstream.Tier
	again   bool // the cluster was complete
	// reconnects is how often the client had reconnected when the layout was compared: another server may have answered since.
	reconnects uint64
}

// errReconnected is returned where the layout has to be compared again before anything is created.
var errReconnected = errors.New("the connection was lost while the streams were compared")

// run creates what is missing and restores what was edited. It calls agree when the buckets are there.
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
	if p.again && slices.Contains(have, nil) { // it was deleted
		if err := sleep.For(ctx, jsclient.DeletionTime); err != nil {
			return err
		}
	}
	buckets, last := slices.IndexFunc(all, func(s jetstream.StreamConfig) bool { return !strings.HasPrefix(s.Name, "KV_") }), len(all)-1
	// One after the other: a server that creates several at a time reserves more than it has, and then refuses lower limits, too.
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
	if err == nil { // Join takes it for the sign that all is there
		err = restore(last, last+1)
	}
	return err
}

// eachStream calls do for each stream, all at a time.
func eachStream(all []jetstream.StreamConfig, do func(i int) error) error {
	var g errgroup.Group
	for i := range all {
		g.Go(func() error { return do(i) })
	}
	return g.Wait()
}

// Subjects returns the state of a stream, with how many messages it has of each subject that a filter matches.
func Subjects(ctx context.Context, b *Bus, stream, filter string) (jetstream.StreamState, error) {
	s, err := b.JS.Stream(ctx, stream)
	var info *jetstream.StreamInfo
	if err == nil {
		info, err = s.Info(ctx, jetstream.WithSubjectFilter(filter))
	}
	if err != nil {
		return jetstream.StreamState{}, fmt.Errorf("look at the subjects of stream %s: %w", stream, err)
	}
	return info.State, nil
}

// StreamInfo returns the state of a stream, nil if it does not exist.
func StreamInfo(ctx context.Context, b *Bus, name string) (*jetstream.StreamInfo, error) {
	s, err := b.JS.Stream(ctx, name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at stream %s: %w", name, err)
	}
	return s.CachedInfo(), nil
}

// restore creates a stream, or gives it its configuration where it has another.
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

// ReadProvisioned returns how the streams were provisioned.
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

// defaultCheckEvery is how often a process compares the objects of NATS that it uses with their configuration.
const defaultCheckEvery = 10 * time.Second

// KeepProvisioned compares the streams with how they were provisioned, now and then until ctx is done, and provisions again what is
// missing or was edited. It leaves a server alone that has not the layout of this process: it is another, or has lost all.
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
		return fmt.Errorf("%w (if this is the server of the crawls, start the frontier again, which provisions it)", err)
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

// KeepConsumer compares a consumer with its configuration, now and then until ctx is done, and restores what was edited. A consumer
// that is missing is the business of its readers, who notice at once.
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
