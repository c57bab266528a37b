package stages

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

// A stream of another application with a name of Seine is not changed: Seine does not start there.
func TestProvision_StreamsOfOthers_LeftAsTheyAre(t *testing.T) {
	t.Parallel()
	b, err := Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, natstest.Options(t))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	limits := messages.DefaultStreamLimits()
	limits.SnapshotsBytes = 1 << 30
	// The server removes the directory of an account with its last stream, perhaps while it creates
	// the next one.
	if _, err := b.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "LASTING", Subjects: []string{"lasting"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range messages.StreamNames() {
		config := jetstream.StreamConfig{Name: name, Subjects: []string{"app.dlq.>"}}
		theirs, err := b.JS.CreateStream(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		before := theirs.CachedInfo().Config
		if _, err := b.JS.Publish(t.Context(), "app.dlq.x", []byte("x")); err != nil {
			t.Fatal(err)
		}
		err = b.Provision(t.Context(), 4, limits, 1)
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), config.Name) {
			t.Errorf("%s: %v, want ErrForeign, with its name", config.Name, err)
		}
		info, err := theirs.Info(t.Context())
		if err != nil || info.State.Msgs != 1 || strings.Join(info.Config.Subjects, " ") != strings.Join(before.Subjects, " ") || info.Config.MaxBytes != before.MaxBytes {
			t.Errorf("%s is %+v, %v", config.Name, info, err)
		}
		if err := b.JS.DeleteStream(t.Context(), config.Name); err != nil {
			t.Fatal(err)
		}
	}
}

// A comparison that began before the connection was lost creates nothing: another server may answer
// now.
func TestReprovision_ReconnectedMeanwhile_NothingCreated(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	p := provisioner{Bus: b, again: true, reconnects: b.NC.Stats().Reconnects}
	var err error
	if p.Provisioned, err = ReadProvisioned(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	br.Stop()
	br.Opts.StoreDir = t.TempDir()
	br.Start()
	await.Eventually(t, "the client has reconnected", func() bool { return b.NC.Stats().Reconnects > 0 && b.NC.IsConnected() })
	if err := p.run(t.Context(), func(context.Context) error { return nil }); !errors.Is(err, errReconnected) {
		t.Errorf("provisioned again with %v", err)
	}
	if info, err := b.JS.AccountInfo(t.Context()); err != nil || info.Streams > 0 {
		t.Errorf("%d streams were created, %v", info.Streams, err)
	}
}
