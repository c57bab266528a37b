// Package await provides waiting helpers for tests: for a condition to become true or to stay true,
// and for the end of a background job.
package await

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience is the deadline of every wait in these tests; a passing test needs far less.
const Patience = 2 * time.Minute

// Eventually polls ok until it returns true. It fails the test after Patience.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting: %s", what)
		}
	}
}

// Always checks that ok holds for d. It is for events that must not happen and that nothing
// reports.
func Always(t testing.TB, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(d); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if !ok() {
			t.Fatalf("did not hold: %s", what)
		}
	}
}

// Log is a log that a test can read.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends to the log.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// Has reports whether the log contains a text.
func (l *Log) Has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.buf.String(), s)
}

// String returns the complete log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Logger returns a logger that writes to the log at every level.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Job is a background function that runs until it is stopped.
type Job struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// Start runs f in the background. The job is stopped at the end of the test.
func Start(t *testing.T, f func(context.Context) error) *Job {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	j := &Job{t: t, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(j.done)
		j.err = f(ctx)
	}()
	t.Cleanup(func() { cancel(); _ = j.Wait() })
	return j
}

// Wait waits for the job and returns its error.
func (j *Job) Wait() error {
	j.t.Helper()
	select {
	case <-j.done:
		return j.err
	case <-time.After(Patience):
		j.t.Error("job did not end")
		return nil
	}
}

// End stops the job and returns its error.
func (j *Job) End() error { j.Stop(); return j.Wait() }

// Stop cancels the job without waiting for its end.
func (j *Job) Stop() { j.cancel() }
