package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/run/connect"
	"seine/internal/testing/natstest"
	"seine/pkg/crawlspec"
)

// common are the options of a stage, over a server of its own.
func common(t *testing.T) *Common {
	t.Helper()
	o := natstest.Listening(t)
	o.JetStream = false
	return &Common{
		Options: connect.Options{NATS: natstest.Start(t, o).ClientURL()}, NATSWait: crawlspec.Duration(time.Minute), Listen: "off",
		Logging: Logging{LogLevel: "error"},
	}
}

// A cluster that elects its leaders answers nobody; a stage that is started
// meanwhile waits, as it does for NATS itself.
func TestStageThatStartsDuringAnElectionWaits(t *testing.T) {
	tries := 0
	err := serve(t.Context(), "test", common(t), slog.New(slog.DiscardHandler), func(_ context.Context, env Env) error {
		if tries++; tries == 1 {
			return fmt.Errorf("open bucket: %w", context.DeadlineExceeded)
		}
		return env.Started("")
	})
	if err != nil || tries != 2 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

func TestStageEndsWithAnErrorThatWaitingDoesNotMend(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		start bool
	}{
		"the server has no JetStream": {err: jetstream.ErrJetStreamNotEnabled},
		"another error":               {err: errors.New("state in use by another process")},
		"it had started":              {err: context.DeadlineExceeded, start: true},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			err := serve(t.Context(), "test", common(t), slog.New(slog.DiscardHandler), func(_ context.Context, env Env) error {
				if tries++; c.start {
					if err := env.Started(""); err != nil {
						return err
					}
				}
				return c.err
			})
			if !errors.Is(err, c.err) || tries != 1 {
				t.Errorf("after %d tries: %v", tries, err)
			}
		})
	}
}
