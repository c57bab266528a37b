package stages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/weburl"
	"seine/pkg/messages"
)

// Bus is a connection to NATS with the streams of Seine on it.
type Bus struct {
	NC     *nats.Conn
	JS     jetstream.JetStream
	Layout messages.Layout
	Log    *slog.Logger

	reconnected atomic.Int64 // when the connection was last regained, Unix ns
}

// ErrLayout is returned when the streams were made for another layout than
// the one asked for, or by a version of Seine that this one cannot continue.
var ErrLayout = errors.New("the streams were created with another layout")

// ErrServer is returned when the server cannot carry the streams.
var ErrServer = errors.New("unsuitable NATS server")

// asyncPending bounds how many published messages may wait for their
// acknowledgement over one connection.
const asyncPending = 8192

// Dial connects to the NATS server at url, and stays connected: it reconnects
// for ever, and Publisher, Runner and Feed go on where they were. Only the
// first connection may fail.
func Dial(url, name string, log *slog.Logger, opts ...nats.Option) (*Bus, error) {
	b := &Bus{Log: log}
	opts = append([]nats.Option{
		nats.Name(name),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(200 * time.Millisecond),
		nats.ReconnectJitter(200*time.Millisecond, time.Second),
		nats.PingInterval(20 * time.Second),
		nats.ReconnectBufSize(-1), // what cannot be sent now is retried by who published it
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("lost NATS, reconnecting", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			b.reconnected.Store(time.Now().UnixNano())
			log.Info("reconnected to NATS", "url", nc.ConnectedUrlRedacted())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS", "error", err) }),
	}, opts...)
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w (is nats-server running there with -js? --nats or SEINE_NATS_URL names another)", redact(url), redactError(err))
	}
	js, err := jetstream.New(nc,
		jetstream.WithPublishAsyncMaxPending(asyncPending),
		jetstream.WithPublishAsyncTimeout(10*time.Second))
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("open JetStream: %w", err)
	}
	b.NC, b.JS = nc, js
	return b, nil
}

// Close sends what is buffered and closes the connection.
func (b *Bus) Close() {
	_ = b.NC.FlushTimeout(2 * time.Second)
	b.NC.Close()
}

// Provision creates the streams and buckets that are missing, and brings the
// limits of the others up to date. Partitions cannot change once URLs have been
// distributed over them: ErrLayout then.
func (b *Bus) Provision(ctx context.Context, partitions int, limits messages.StreamLimits, replicas int) error {
	if partitions < 1 || partitions > messages.MaxPartitions {
		return fmt.Errorf("%d partitions: must be from 1 to %d", partitions, messages.MaxPartitions)
	}
	if err := b.checkServer(ctx); err != nil {
		return err
	}
	buckets, bctx := errgroup.WithContext(ctx)
	for _, kv := range messages.KeyValues(replicas) {
		buckets.Go(func() error {
			if _, err := b.JS.CreateOrUpdateKeyValue(bctx, kv); err != nil {
				return fmt.Errorf("create bucket %s: %w", kv.Bucket, err)
			}
			return nil
		})
	}
	if err := buckets.Wait(); err != nil {
		return err
	}
	if err := b.agree(ctx, partitions); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, s := range messages.Streams(limits, replicas) {
		g.Go(func() error {
			if _, err := b.JS.CreateOrUpdateStream(gctx, s); err != nil {
				return fmt.Errorf("create stream %s: %w", s.Name, hintStorage(err))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	// Last: Join takes it for the sign that all is there.
	if _, err := b.JS.CreateOrUpdateObjectStore(ctx, messages.Bodies(limits, replicas)); err != nil {
		return fmt.Errorf("create object store %s: %w", messages.BucketBodies, hintStorage(err))
	}
	return nil
}

// codeStorage is JetStream's error for limits that do not fit the account.
const codeStorage = 10047

// hintStorage says what to do when the streams' limits do not fit the server.
func hintStorage(err error) error {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && int(api.ErrorCode) == codeStorage {
		return fmt.Errorf("%w (the limits of all streams must fit the server's max_file_store: raise it, or lower the frontier's --*-bytes)", err)
	}
	return err
}

func (b *Bus) checkServer(ctx context.Context) error {
	if _, err := b.JS.AccountInfo(ctx); err != nil {
		return fmt.Errorf("%w: JetStream does not answer: %w (start nats-server with -js)", ErrServer, err)
	}
	if v := b.NC.ConnectedServerVersion(); !serverAtLeast(v, 2, 14) {
		return fmt.Errorf("%w: version %s; Seine needs 2.14 or newer, whose consumers can be rewound", ErrServer, v)
	}
	return nil
}

func serverAtLeast(version string, major, minor int) bool {
	var ma, mi int
	if _, err := fmt.Sscanf(version, "%d.%d", &ma, &mi); err != nil {
		return false
	}
	return ma > major || ma == major && mi >= minor
}

// agree writes the layout, or checks it against the one that was written.
func (b *Bus) agree(ctx context.Context, partitions int) error {
	want := messages.Layout{V: messages.Version, Partitions: partitions, Canonical: weburl.Version}
	kv, err := b.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		return fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		return fmt.Errorf("encode layout: %w", err)
	}
	if _, err := kv.Create(ctx, messages.KeyLayout, text); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("write layout: %w", err)
	}
	have, err := b.Existing(ctx)
	if err != nil {
		return err
	}
	if older := have; older.Canonical < want.Canonical {
		// URLs of a newer build: the frontiers judge anew what they know by another
		// name, and stages of the older build refuse to join.
		if older.Canonical = want.Canonical; older == want {
			if _, err := kv.Put(ctx, messages.KeyLayout, text); err != nil {
				return fmt.Errorf("write layout: %w", err)
			}
			b.Log.Info("canonical URLs have a newer version", "was", have.Canonical, "is", want.Canonical)
			have = want
		}
	}
	if have != want {
		return fmt.Errorf("%w: they have %+v, asked for %+v (use the same --partitions, or another NATS account)", ErrLayout, have, want)
	}
	b.Layout = have
	return nil
}

// Existing returns the layout that was written, if there is one.
func (b *Bus) Existing(ctx context.Context) (l messages.Layout, err error) {
	kv, err := b.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		return l, fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
	}
	e, err := kv.Get(ctx, messages.KeyLayout)
	if err != nil {
		return l, fmt.Errorf("read layout: %w", err)
	}
	if err := json.Unmarshal(e.Value(), &l); err != nil {
		return l, fmt.Errorf("decode layout: %w", err)
	}
	return l, nil
}

// Join waits until a frontier has provisioned the streams, and learns their
// layout.
func (b *Bus) Join(ctx context.Context) error {
	said := false
	for {
		l, err := b.Existing(ctx)
		switch {
		case err != nil:
		case l.V != messages.Version:
			return fmt.Errorf("%w: they have wire version %d, this build speaks %d", ErrLayout, l.V, messages.Version)
		case l.Canonical != weburl.Version:
			return fmt.Errorf("%w: they have version %d of canonical URLs, this build makes %d", ErrLayout, l.Canonical, weburl.Version)
		default:
			if _, err = b.JS.ObjectStore(ctx, messages.BucketBodies); err == nil { // the last thing made
				b.Layout = l
				return nil
			}
		}
		if !said {
			b.Log.Info("waiting for a frontier to create the streams", "reason", err)
			said = true
		}
		if err := Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// untilReconnected returns a context that ends with ctx, or when the connection
// was lost and is back.
func (b *Bus) untilReconnected(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	connected := b.NC.StatusChanged(nats.CONNECTED)
	go func() {
		for range connected {
			cancel()
		}
	}()
	return ctx, func() {
		b.NC.RemoveStatusListener(connected)
		cancel()
	}
}

// Sleep waits for d, or until ctx is done and returns why.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
