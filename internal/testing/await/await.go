// Package await waits in tests for what happens in other goroutines and processes: until
// something holds, for as long as it must hold, for the end of what runs in the background.
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

// Patience bounds every wait of these tests; a passing test needs far less.
const Patience = 2 * time.Minute

// Eventually waits until ok.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// Always checks that ok holds for d, where what must not happen has no event
// that says so.
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

// Write adds to it.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// Has reports whether a text is in it.
func (l *Log) Has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.buf.String(), s)
}

// String returns all of it.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Logger writes to it, at every level.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Job is something that runs until it is stopped.
type Job struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// Start runs f in the background; the test ends it.
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

// Wait returns what the job returned.
func (j *Job) Wait() error {
	j.t.Helper()
	select {
	case <-j.done:
		return j.err
	case <-time.After(Patience):
		j.t.Error("does not end")
		return nil
	}
}

// End stops the job, and returns what it returned.
func (j *Job) End() error { j.Stop(); return j.Wait() }

// Stop tells the job to end, and does not wait for that.
func (j *Job) Stop() { j.cancel() }
