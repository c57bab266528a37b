package process

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Bounds of the lines with one message: what happens to many pages, hosts or
// partitions at once must not fill a disk. Debug lines are not bounded.
const (
	sparseEvery = 10 * time.Second
	sparseBurst = 32 // two for each partition of the default
)

// burstLimiter is a handler that lets through so many lines of a message in an interval,
// and then says how many it has left out.
type burstLimiter struct {
	slog.Handler
	windows *burstWindows
}

// burstWindows are recent lines of the log, by level and message, which are
// constants of the program.
type burstWindows struct {
	root slog.Handler
	mu   sync.Mutex
	of   map[line]*window
}

type line struct {
	level   slog.Level
	message string
}

// window counts the lines of a message since the first.
type window struct {
	began         time.Time
	said, leftOut int
}

func newBurstLimiter(h slog.Handler) burstLimiter {
	return burstLimiter{h, &burstWindows{root: h, of: make(map[line]*window)}}
}

// WithAttrs implements slog.Handler.
func (s burstLimiter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return burstLimiter{s.Handler.WithAttrs(attrs), s.windows}
}

// WithGroup implements slog.Handler.
func (s burstLimiter) WithGroup(name string) slog.Handler {
	return burstLimiter{s.Handler.WithGroup(name), s.windows}
}

// Handle implements slog.Handler.
func (s burstLimiter) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo && !s.windows.allow(line{r.Level, r.Message}) {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

// allow reports whether a line may be written. The first that may not sees to it
// that their number is logged.
func (w *burstWindows) allow(l line) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	at := w.of[l]
	if at == nil || now.Sub(at.began) >= sparseEvery {
		at = &window{began: now}
		w.of[l] = at
	}
	if at.said < sparseBurst {
		at.said++
		return true
	}
	if at.leftOut++; at.leftOut == 1 {
		time.AfterFunc(at.began.Add(sparseEvery).Sub(now), func() { w.logSuppressed(l, at) })
	}
	return false
}

// logSuppressed says how many lines were left out.
func (w *burstWindows) logSuppressed(l line, at *window) {
	w.mu.Lock()
	n := at.leftOut
	w.mu.Unlock()
	r := slog.NewRecord(time.Now(), l.level, l.message, 0)
	r.AddAttrs(slog.Int("left_out", n))
	_ = w.root.Handle(context.Background(), r) // no process is left to log
}
