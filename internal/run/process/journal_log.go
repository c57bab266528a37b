package process

import (
	"context"
	"io"
	"log/slog"
)

// journalHandler writes lines as text, each with its level in front as journald and the kernel know them: <3> to <7>.
// They have no time, as the journal has one of its own.
type journalHandler struct {
	levels [4]slog.Handler // of debug, info, warn and error, as a handler of slog is not told where a line begins
}

func newJournalHandler(w io.Writer, o slog.HandlerOptions) slog.Handler {
	o.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
			return slog.Attr{}
		}
		return a
	}
	var h journalHandler
	for i, priority := range []string{"<7>", "<6>", "<4>", "<3>"} {
		h.levels[i] = slog.NewTextHandler(prefixed{w, priority}, &o)
	}
	return h
}

// of is the handler of a level.
func (h journalHandler) of(level slog.Level) slog.Handler {
	switch {
	case level >= slog.LevelError:
		return h.levels[3]
	case level >= slog.LevelWarn:
		return h.levels[2]
	case level >= slog.LevelInfo:
		return h.levels[1]
	}
	return h.levels[0]
}

// Enabled implements slog.Handler.
func (h journalHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.of(level).Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h journalHandler) Handle(ctx context.Context, r slog.Record) error {
	return h.of(r.Level).Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for i := range h.levels {
		h.levels[i] = h.levels[i].WithAttrs(attrs)
	}
	return h
}

// WithGroup implements slog.Handler.
func (h journalHandler) WithGroup(name string) slog.Handler {
	for i := range h.levels {
		h.levels[i] = h.levels[i].WithGroup(name)
	}
	return h
}

// prefixed writes a prefix before each line, in one write with it. A handler of slog writes whole lines.
type prefixed struct {
	w      io.Writer
	prefix string
}

// Write implements io.Writer.
func (p prefixed) Write(line []byte) (int, error) {
	if _, err := p.w.Write(append([]byte(p.prefix), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
