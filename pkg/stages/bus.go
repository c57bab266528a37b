package stages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"seine/internal/base/installation"
	"seine/internal/base/sleep"
	"seine/internal/base/tracing"
	"seine/internal/base/weburl"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// Bus is a connection to NATS and the streams of Seine.
type Bus struct {
	jsclient.Client
	Layout messages.Layout
	// Unbatched publishes each message by itself, without batches.
	Unbatched bool
	// Tracer records the spans of traced visits; nil records none.
	Tracer *tracing.Tracer
	// Troubles are the conditions that keep this process from its work.
	Troubles Troubles
	// CheckEvery is how often the process compares the objects that it uses with their
	// configuration.
	CheckEvery time.Duration
	Refusals   Refusals
	Eras       Eras

	lost        atomic.Bool               // whether the connection is lost at the moment
	staleBefore atomic.Pointer[time.Time] // when the server last may have lost acknowledgements
	trusted     atomic.Pointer[trustedRequests]
	pulse       stallDetector
	open        context.Context // until Close
	stopping    context.CancelFunc
	refusals    permissionErrors
	handshake   lostHandshake
	opened      sync.Map // durable consumers that OpenConsumer was called for, "STREAM NAME"
}

// ErrLayout is returned when the existing streams have another layout than the one asked for, or
// were created by a version of Seine that this one cannot continue.
var ErrLayout = errors.New("the streams were created with another layout")

// ErrRestoring is returned while a backup is being restored.
var ErrRestoring = errors.New("a backup is being restored to this server")

// ErrServer is returned when the server does not meet Seine's requirements.
var ErrServer = errors.New("unsuitable NATS server")

// asyncPending bounds how many published messages may wait for their acknowledgement on one
// connection.
const asyncPending = 8192

// pingEvery is the interval of pings to the server. After the third unanswered ping the client
// connects to another server of the cluster. A server that is cut off does not announce it. The
// client must leave it before the rest of the cluster elects another leader, which takes at least 4
// s (nats-server 2.15.2) and then gives this process's in-flight messages to others: see
// AwaitConnection.
const pingEvery = time.Second

// Dial connects to the NATS server at url. Only the first connection may fail: afterwards the
// client reconnects without limit, and Publisher, Runner and OrderedReader continue where they
// were.
func Dial(url, name string, log *slog.Logger, opts ...nats.Option) (*Bus, error) {
	return DialPrefix(url, "", name, log, opts...)
}

// hintConnect returns advice for a failed connection.
func hintConnect(err error) string {
	if errors.Is(err, nats.ErrAuthorization) {
		return "the server rejected the credentials: check the --nats-… flags"
	}
	return cmp.Or(hintCertificate(err), "check that nats-server runs there with -js, or name another server with --nats or SEINE_NATS_URL")
}

// DialPrefix is Dial for a JetStream API with a prefix, such as "$JS.hub.API" for the domain hub;
// "" means $JS.API.
func DialPrefix(url, prefix, name string, log *slog.Logger, opts ...nats.Option) (*Bus, error) {
	b := &Bus{Client: jsclient.Client{Log: log, Prefix: cmp.Or(prefix, "$JS.API")}, CheckEvery: defaultCheckEvery}
	b.Refusals, b.Eras = Refusals{b}, Eras{b}
	nc, err := nats.Connect(url, append([]nats.Option{
		nats.Name(name),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(200 * time.Millisecond),
		nats.ReconnectJitter(200*time.Millisecond, time.Second),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1), // publishers retry messages that cannot be sent now
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				if !b.lost.Swap(true) {
					disconnected.Inc()
				}
				log.Warn("lost NATS, reconnecting", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			b.MarkStale()
			b.refusals.forget()
			reconnectsTotal.Inc()
			if b.lost.Swap(false) {
				disconnected.Dec()
			}
			log.Info("reconnected to NATS", "url", nc.ConnectedUrlRedacted())
		}),
		nats.IgnoreAuthErrorAbort(), // keys are changed while stages run, so a rejected user may be accepted later
		nats.ErrorHandler(func(nc *nats.Conn, _ *nats.Subscription, err error) {
			if !b.Refusals.refused(nc, err) {
				log.Warn("NATS reports an error", "error", err)
			}
		}),
	}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w (%s)", redact(url), redactError(err), hintConnect(err))
	}
	js, err := jetstream.NewWithAPIPrefix(nc, b.Prefix,
		jetstream.WithPublishAsyncMaxPending(asyncPending),
		jetstream.WithPublishAsyncTimeout(10*time.Second))
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("open JetStream: %w", err)
	}
	b.NC, b.JS = nc, jsclient.WithRestored(js)
	b.open, b.stopping = context.WithCancel(context.Background())
	go b.watch(b.open)
	return b, nil
}

// Close flushes buffered messages and closes the connection.
func (b *Bus) Close() {
	if b.stopping != nil {
		b.stopping()
	}
	_ = b.NC.FlushTimeout(2 * time.Second)
	b.NC.Close()
}

// CheckRestored returns ErrRestoring while a backup is being restored, or if a restore was
// interrupted.
func (b *Bus) CheckRestored(ctx context.Context) error {
	_, err := b.JS.Stream(ctx, "KV_"+messages.BucketRestore)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("check for an unfinished restore: %w", err)
	}
	return fmt.Errorf("%w: wait until `seine restore` has ended; if it was interrupted, run it again", ErrRestoring)
}

func (b *Bus) checkServer(ctx context.Context) error {
	if _, err := Account(ctx, b, 1); err != nil {
		return err
	}
	if err := b.CheckVersion(); err != nil {
		return err
	}
	return b.CheckRestored(ctx)
}

// CheckVersion returns ErrServer if the server is older than Seine requires.
func (b *Bus) CheckVersion() error {
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

// agree writes the layout, or compares it with the existing one.
func (b *Bus) agree(ctx context.Context, kv jetstream.KeyValue, partitions int) error {
	want := messages.Layout{V: messages.Version, Partitions: partitions, Canonical: weburl.Version, Installation: nuid.Next()}
	_, err := kv.Create(ctx, messages.KeyLayout, messages.Encode(want))
	if err == nil {
		b.Layout = want
		return nil
	}
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("write layout: %w", err)
	}
	have, err := b.Existing(ctx)
	if err != nil {
		return err
	}
	want.Installation = have.Installation
	if have != want {
		return fmt.Errorf("%w: they have %s, not %s (use --partitions %d, or another NATS account)", ErrLayout, have, want, have.Partitions)
	}
	b.Layout = have
	return nil
}

// Existing returns the stored layout, or an error that wraps jetstream.ErrKeyNotFound.
func (b *Bus) Existing(ctx context.Context) (l messages.Layout, err error) {
	rev, err := b.ReadJSON(ctx, messages.BucketMeta, messages.KeyLayout, &l)
	if err == nil && rev == 0 {
		err = jetstream.ErrKeyNotFound
	}
	if err != nil {
		return l, fmt.Errorf("read the layout in bucket %s: %w", messages.BucketMeta, err)
	}
	return l, nil
}

// CheckInstallation returns installation.ErrOther if the server's streams belong to another
// installation than the one that the connection joined.
func (b *Bus) CheckInstallation(ctx context.Context) error {
	have, err := b.Existing(ctx)
	if err == nil && have.Installation != b.Layout.Installation {
		err = fmt.Errorf("the server has the streams of %w (%s), but this process belongs to %s", installation.ErrOther, have.Installation, b.Layout.Installation)
	}
	return err
}

// Installation returns the installation that the connection joined.
func (b *Bus) Installation() installation.ID {
	return installation.ID{Name: b.Layout.Installation, Partitions: b.Layout.Partitions}
}

// Join waits until a frontier has provisioned the streams, and loads their layout. Messages that
// are already stored may be stale: see MaybeStale.
func (b *Bus) Join(ctx context.Context) error {
	said := false
	for {
		l, err := b.joined(ctx)
		switch {
		case err != nil:
		case l.V != messages.Version:
			return fmt.Errorf("%w: they have wire version %d, this build uses %d", ErrLayout, l.V, messages.Version)
		case l.Canonical != weburl.Version:
			return fmt.Errorf("%w: they have version %d of canonical URLs, this build uses %d", ErrLayout, l.Canonical, weburl.Version)
		default:
			b.Layout = l
			b.MarkStale()
			return nil
		}
		if b.Refusals.Err() == nil && !said {
			b.Log.Info("waiting for a frontier to provision the streams", "reason", err)
			said = true
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return err
		}
	}
}

// joined returns the layout if the provisioning is complete. Each attempt has a timeout, since a
// cluster without a leader does not answer. It is canceled if the server denies permission, since
// no answer would come.
func (b *Bus) joined(ctx context.Context) (messages.Layout, error) {
	ctx, cancel := b.Refusals.CancelOnDenied(ctx)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	l, err := b.Existing(ctx)
	if err == nil && l.V == messages.Version {
		_, err = b.JS.ObjectStore(ctx, messages.BucketBodies) // the last object to be created
	}
	if err == nil {
		err = b.CheckRestored(ctx)
	}
	return l, err
}
