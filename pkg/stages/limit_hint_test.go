package stages

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

// An error of provisioning names the required number, the allowed one, and what to change.
func TestProvision_LimitsTooLow_SaysNumbersAndRemedy(t *testing.T) {
	t.Parallel()
	limits := messages.DefaultStreamLimits()
	for name, c := range map[string]struct {
		server  func(*server.Options)
		account *server.JetStreamAccountLimits
		want    []string
	}{
		"10047 of the server":  {server: func(o *server.Options) { o.JetStreamMaxStore = 1 << 30 }, want: []string{"5.91 GB for all of Seine", "max_file_store", "--pages-bytes"}},
		"10047 of the account": {account: &server.JetStreamAccountLimits{MaxStore: 1 << 30, MaxStreams: -1, MaxConsumers: -1, MaxMemory: -1}, want: []string{"its max_storage is 1073741824", "--snapshot-bytes"}},
		"10122":                {account: &server.JetStreamAccountLimits{MaxStore: -1, StoreMaxStreamBytes: 1 << 20, MaxStreams: -1, MaxConsumers: -1, MaxMemory: -1}, want: []string{"the account allows 1048576", "max_bytes"}},
		"10027":                {account: &server.JetStreamAccountLimits{MaxStore: -1, MaxStreams: 9, MaxConsumers: -1, MaxMemory: -1}, want: []string{"Seine needs 13 streams", "max_streams is 9"}},
		"10052":                {server: func(o *server.Options) { o.JetStreamLimits.Duplicates = 30 * time.Second }, want: []string{"duplicate_window 2m0s", "jetstream block"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := natstest.Options(t)
			if c.server != nil {
				c.server(o)
			}
			s := natstest.Start(t, o)
			if c.account != nil {
				if err := s.GlobalAccount().UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"": *c.account}); err != nil {
					t.Fatal(err)
				}
			}
			b, err := Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(s))
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			err = b.Provision(t.Context(), 4, limits, 1)
			if err == nil {
				t.Fatal("there is no error")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v\ndoes not say %q", err, part)
				}
			}
		})
	}
}

// In an account that requires a limit for every stream, every stream has one, and the comparison
// accepts it.
func TestProvision_AccountRequiresMaxBytes_EveryStreamHasALimit(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.Options(t))
	required := server.JetStreamAccountLimits{MaxStore: -1, MaxStreams: -1, MaxConsumers: -1, MaxMemory: -1, MaxBytesRequired: true}
	if err := s.GlobalAccount().UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"": required}); err != nil {
		t.Fatal(err)
	}
	b, err := Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for range 2 {
		if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range messages.AllStreams(messages.DefaultStreamLimits(), 1) {
		if c := natstest.StreamOf(t, b.JS, want.Name).CachedInfo().Config; c.MaxBytes <= 0 {
			t.Errorf("%s has no limit", want.Name)
		}
	}
	if err := reprovision(t.Context(), b); err != nil {
		t.Error(err)
	}
}

// An error of a consumer names what to change.
func TestOpenConsumer_LimitsTooLow_SaysNumbersAndRemedy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits server.JSLimitOpts
		edit   func(*jetstream.StreamConfig)
		want   string
	}{
		"max_ack_pending of the server": {limits: server.JSLimitOpts{MaxAckPending: 10}, want: "it needs max_ack_pending 4096"},
		"max_consumers of the stream":   {edit: func(c *jetstream.StreamConfig) { c.MaxConsumers = 1 }, want: "raise max_consumers"},
	} {
		b, err := Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, func() *server.Options {
			o := natstest.Options(t)
			o.JetStreamLimits = c.limits
			return o
		}())))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
			t.Fatal(err)
		}
		if c.edit != nil {
			config := natstest.StreamOf(t, b.JS, messages.StreamPages).CachedInfo().Config
			c.edit(&config)
			if _, err := b.JS.UpdateStream(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			if _, err := b.JS.CreateConsumer(t.Context(), messages.StreamPages, jetstream.ConsumerConfig{Durable: "app"}); err != nil {
				t.Fatal(err)
			}
		}
		config, _ := messages.NamedConsumer(messages.StreamPages, messages.ConsumerParse)
		_, err = b.OpenConsumer(t.Context(), messages.StreamPages, config)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "consumer parser of stream PAGES") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		b.Close()
	}
}

// One request never asks for more than a server holds for a connection, even if its max_pending is
// as small as its max_payload.
func TestRunner_MaxPendingIsSmall_StaysConnected(t *testing.T) {
	t.Parallel()
	br := natstest.NewBroker(t, func(o *server.Options) { o.MaxPending = 1 << 20 })
	b, _ := dial(t, br.URL())
	if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	const n = 60
	for range n {
		if _, err := b.JS.Publish(t.Context(), messages.SubjectPages("c", 0), make([]byte, 500<<10)); err != nil {
			t.Fatal(err)
		}
	}
	var handled atomic.Int64
	r := newRunner(b, func(context.Context, *Message) (Output, error) { handled.Add(1); return Output{}, nil })
	r.Prefetch = 64
	await.Start(t, r.Run)
	await.Eventually(t, "all is handled", func() bool { return handled.Load() >= n })
	if s := b.NC.Stats(); s.Reconnects > 0 {
		t.Errorf("the server has closed the connection %d times", s.Reconnects)
	}
}

// Lower limits fit on a server where a first attempt with higher ones has created some of the
// streams.
func TestProvision_LimitsLoweredAfterAFailure_MakeRoom(t *testing.T) {
	t.Parallel()
	o := natstest.Options(t)
	o.JetStreamMaxStore = 4 << 30
	s := natstest.Start(t, o)
	b, err := Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	limits := messages.DefaultStreamLimits()
	if err := b.Provision(t.Context(), 4, limits, 1); err == nil {
		t.Fatal("the server has room for the default limits")
	}
	limits.SeedsBytes, limits.URLsBytes, limits.ResultsBytes, limits.DeadBytes = 64<<20, 256<<20, 64<<20, 64<<20
	limits.PagesBytes, limits.RecordsBytes, limits.BodiesBytes = 512<<20, 512<<20, 512<<20
	if err := b.Provision(t.Context(), 4, limits, 1); err != nil {
		t.Fatal(err)
	}
}
