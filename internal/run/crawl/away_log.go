package crawl

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"seine/internal/output/rows"
)

// awayLog holds back what is said of a database that is away: the error by which the crawl ends
// says it once, with what to do. If there is no such error, it is said at the end.
type awayLog struct {
	slog.Handler
	held *heldRecords
}

// heldRecords are held back by a handler and by those that were made of it.
type heldRecords struct {
	mu  sync.Mutex
	all []heldRecord
}

type heldRecord struct {
	to     slog.Handler
	record slog.Record
}

// maxHeld bounds them: after that many nothing new is said.
const maxHeld = 100

func newAwayLog(to slog.Handler) awayLog { return awayLog{to, &heldRecords{}} }

// Handle implements slog.Handler.
func (l awayLog) Handle(ctx context.Context, r slog.Record) error {
	if !isAway(r) {
		return l.Handler.Handle(ctx, r) //nolint:wrapcheck // it is the other's
	}
	l.held.mu.Lock()
	defer l.held.mu.Unlock()
	if len(l.held.all) < maxHeld {
		l.held.all = append(l.held.all, heldRecord{l.Handler, r.Clone()})
	}
	return nil
}

// isAway reports whether a record has the error of a database that is away.
func isAway(r slog.Record) (is bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, _ := a.Value.Any().(error)
		is = is || errors.Is(err, rows.ErrAway)
		return !is
	})
	return is
}

// say says what was held back.
func (h *heldRecords) say() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.all {
		_ = r.to.Handle(context.Background(), r.record)
	}
	h.all = nil
}

// WithAttrs implements slog.Handler.
func (l awayLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return awayLog{l.Handler.WithAttrs(attrs), l.held}
}

// WithGroup implements slog.Handler.
func (l awayLog) WithGroup(name string) slog.Handler {
	return awayLog{l.Handler.WithGroup(name), l.held}
}
