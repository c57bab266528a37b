package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/ops/procstats"
	"seine/internal/run/connect"
	"seine/internal/testing/natstest"
	"seine/pkg/crawlspec"
)

// common returns the options of a stage, with a new server.
func common(t *testing.T) *Common {
	t.Helper()
	o := natstest.Listening(t)
	o.JetStream = false
	return &Common{
		Options: connect.Options{NATS: natstest.Start(t, o).ClientURL()}, NATSWait: crawlspec.Duration(time.Minute), Listen: "off",
		Logging: Logging{LogLevel: "error"},
	}
}

// A cluster without elected leaders answers nobody. A stage that starts then waits, as it does for
// NATS itself.
func TestStageThatStartsDuringAnElectionWaits(t *testing.T) {
	tries := 0
	err := serve(t.Context(), "test", common(t), slog.New(slog.DiscardHandler), func() {}, func(_ context.Context, env Env) error {
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
			err := serve(t.Context(), "test", common(t), slog.New(slog.DiscardHandler), func() {}, func(_ context.Context, env Env) error {
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

// A drain request ends the context of a process, as a signal does. The answer reports the drain
// until the process has ended.
func TestProcessThatIsAskedToDrainEnds(t *testing.T) {
	o := common(t)
	ctx, drain := context.WithCancel(t.Context())
	defer drain()
	started, finish, ended := make(chan *nats.Conn), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- serve(ctx, "test", o, slog.New(slog.DiscardHandler), drain, func(ctx context.Context, env Env) error {
			if err := env.Started(""); err != nil {
				return err
			}
			started <- env.Bus.NC
			<-ctx.Done()
			<-finish
			return nil
		})
	}()
	nc := <-started
	is := func() procstats.Process {
		t.Helper()
		all, err := procstats.Collect(t.Context(), nc)
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		return all[0]
	}
	was := is()
	if !was.Drains || was.Draining {
		t.Errorf("%+v", was)
	}
	if _, err := procstats.Drain(t.Context(), nc, was.ID+"x"); !errors.Is(err, procstats.ErrNoProcess) || ctx.Err() != nil {
		t.Errorf("another was asked: %v, %v", err, ctx.Err())
	}
	for range 2 {
		if p, err := procstats.Drain(t.Context(), nc, was.ID); err != nil || !p.Draining || p.ID != was.ID {
			t.Errorf("%+v, %v", p, err)
		}
		<-ctx.Done()
	}
	if p := is(); !p.Draining {
		t.Errorf("%+v", p)
	}
	close(finish)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
