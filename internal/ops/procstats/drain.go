package procstats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/jsontext"
)

// SubjectDrain returns the subject for drain requests to the process with an ID.
func SubjectDrain(id string) string { return "seine.drain." + id }

// Errors of Drain.
var (
	ErrNoProcess = errors.New("no process with that ID answers")
	ErrNoDrain   = errors.New("it is a whole crawl in one process")
)

// DrainBy sets the function that ServeDrain calls on request. drain acts like the first signal.
func (s *Reporter) DrainBy(drain func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain = drain
}

// Draining marks the process as draining: it finishes in-flight work and exits.
func (s *Reporter) Draining() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}

// serveDrain answers drain requests to this process.
func (s *Reporter) serveDrain(nc *nats.Conn, log *slog.Logger) error {
	s.mu.Lock()
	drain := s.drain
	s.mu.Unlock()
	if drain == nil {
		return nil
	}
	_, err := nc.Subscribe(SubjectDrain(s.id), func(m *nats.Msg) {
		s.Draining()
		s.answer(m, log)
		log.Info("was asked to drain")
		drain()
	})
	if err != nil {
		return fmt.Errorf("be asked to drain: %w", err)
	}
	return nil
}

// drainTime bounds the wait for the process to answer.
const drainTime = 2 * time.Second

// Drain asks a process to finish its in-flight work and exit, and returns its state. The error is
// ErrNoProcess if none answers, ErrNoDrain if the process cannot be drained remotely. Repeated
// requests have no further effect.
func Drain(ctx context.Context, nc *nats.Conn, id string) (p Process, err error) {
	asking, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	m, err := nc.RequestWithContext(asking, SubjectDrain(id), nil)
	switch {
	case err == nil:
		if err := jsontext.Unmarshal(m.Data, &p); err != nil {
			return p, fmt.Errorf("ask a process to drain: %w", err)
		}
		return p, nil
	case ctx.Err() != nil, !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, context.DeadlineExceeded):
		return p, fmt.Errorf("ask a process to drain: %w", err)
	}
	all, err := Collect(ctx, nc)
	if err != nil {
		return p, err
	}
	if i := slices.IndexFunc(all, func(p Process) bool { return p.ID == id }); i >= 0 {
		return all[i], fmt.Errorf("%s: %w", all[i].Name(), ErrNoDrain)
	}
	return p, ErrNoProcess
}
