package process

import (
	"context"
	"io"
	"log/slog"
	"sync"
)

// journalHandler writes lines as text, each with its level in front as journald and the kernel know them: <3> to <7>.
// They have no time, as the journal adds it.
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

// journal writes the level before each line, in one write with it. A handler of slog writes whole lines.
type journal struct {
	w     io.Writer
	mu    sync.Mutex // of the line that is being written
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
