package process

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Bounds for lines with the same message: events of many pages, hosts or partitions must not fill a
// disk. Debug lines are not bounded.
const (
	sparseEvery = 10 * time.Second
	sparseBurst = 32 // two for each of the default partitions
)

// burstLimiter is a handler that passes a bounded number of lines of a message per interval. At the
// end of the interval it logs the number of lines that it dropped.
type burstLimiter struct {
	slog.Handler
	windows *burstWindows
}

// burstWindows are the recent lines, by level and message. Messages are constants of the program,
// so their number is bounded.
type burstWindows struct {
	root slog.Handler
	mu   sync.Mutex
	of   map[line]*window
}

type line struct {
	level   slog.Level
	message string
}

// window counts the lines with one message since the first.
type window struct {
	began            time.Time
	written, leftOut int
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

// allow reports whether a line may be written. The first dropped line schedules the log line with
// their number.
func (w *burstWindows) allow(l line) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	at := w.of[l]
	if at == nil || now.Sub(at.began) >= sparseEvery {
		at = &window{began: now}
		w.of[l] = at
	}
	if at.written < sparseBurst {
		at.written++
		return true
	}
	if at.leftOut++; at.leftOut == 1 {
		time.AfterFunc(at.began.Add(sparseEvery).Sub(now), func() { w.logSuppressed(l, at) })
	}
	return false
}

// logSuppressed logs the number of dropped lines.
func (w *burstWindows) logSuppressed(l line, at *window) {
	w.mu.Lock()
	n := at.leftOut
	w.mu.Unlock()
	r := slog.NewRecord(time.Now(), l.level, l.message, 0)
	r.AddAttrs(slog.Int("left_out", n))
	_ = w.root.Handle(context.Background(), r) // ignored: an error of the log cannot be logged
}
