package process

import (
	"context"
	"io"
	"log/slog"
	"sync"
)

// journalHandler writes text lines with a priority prefix, <3> to <7>, as journald and the kernel
// expect. The lines have no time, because the journal adds it.
type journalHandler struct {
	slog.Handler
	out *journal
}

func newJournalHandler(w io.Writer, o slog.HandlerOptions) slog.Handler {
	o.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
			return slog.Attr{}
		}
		return a
	}
	out := &journal{w: w}
	return journalHandler{slog.NewTextHandler(out, &o), out}
}

// Handle implements slog.Handler.
func (h journalHandler) Handle(ctx context.Context, r slog.Record) error {
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	h.out.level = r.Level
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return journalHandler{h.Handler.WithAttrs(attrs), h.out}
}

// WithGroup implements slog.Handler.
func (h journalHandler) WithGroup(name string) slog.Handler {
	return journalHandler{h.Handler.WithGroup(name), h.out}
}

// journal adds the priority to each line, in the same write. slog handlers write whole lines.
type journal struct {
	w     io.Writer
	mu    sync.Mutex // held while a line is written
	level slog.Level
}

// Write implements io.Writer.
func (j *journal) Write(line []byte) (int, error) {
	priority := "<7>"
	switch {
	case j.level >= slog.LevelError:
		priority = "<3>"
	case j.level >= slog.LevelWarn:
		priority = "<4>"
	case j.level >= slog.LevelInfo:
		priority = "<6>"
	}
	if _, err := j.w.Write(append([]byte(priority), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
