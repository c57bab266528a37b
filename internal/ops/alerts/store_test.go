package alerts

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Alerts are stored again after their key was deleted, and by only one of two processes that found
// none.
func TestDeletedAlertsAreStoredAgain(t *testing.T) {
	bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, natstest.Options(t))))
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	ctx := t.Context()
	if err := bus.Provision(ctx, 1, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	s, err := OpenStore(ctx, bus)
	if err != nil {
		t.Fatal(err)
	}
	for _, remove := range []func() error{
		func() error { return nil },
		func() error { return s.kv.Delete(ctx, messages.KeyAlerts("c")) },
		func() error { return s.kv.Purge(ctx, messages.KeyAlerts("c")) },
	} {
		if err := remove(); err != nil {
			t.Fatal(err)
		}
		_, rev, err := s.Load(ctx, "c")
		if err != nil || rev != 0 {
			t.Fatalf("revision %d, %v", rev, err)
		}
		if _, err := s.Save(ctx, "c", &State{V: 1}, rev); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Save(ctx, "c", &State{V: 1}, rev); !errors.Is(err, ErrChanged) {
			t.Errorf("by another who saw none: %v", err)
		}
	}
}
