package main

import (
	"io"
	"os"
	"sync"
	"time"

	"seine/internal/base/safeprint"
)

// statusLine shows the progress of long operations: on a terminal one line that is updated,
// elsewhere a new line every 10 s.
type statusLine struct {
	w               *os.File
	quiet, terminal bool
	every           time.Duration

	mu    sync.Mutex
	last  time.Time
	shown bool // the terminal shows a line
	begun bool
}

func newStatusLine(w *os.File, quiet bool) *statusLine {
	l := &statusLine{w: w, quiet: quiet, terminal: isTerminal(w), every: 10 * time.Second}
	if l.terminal {
		l.every = 200 * time.Millisecond
	}
	return l
}

// update prints the result of first, once, and then that of line, if it is time. It does not print
// an empty first.
func (l *statusLine) update(first, line func() string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quiet {
		return
	}
	if !l.begun {
		l.begun = true
		if text := first(); text != "" {
			safeprint.Fprintln(l.w, text)
		}
	}
	if time.Since(l.last) < l.every {
		return
	}
	l.last = time.Now()
	if l.terminal {
		safeprint.Fprintf(l.w, "\r\x1b[K%s", line())
		l.shown = true
		return
	}
	safeprint.Fprintln(l.w, line())
}

// done clears the line on the terminal.
func (l *statusLine) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		safeprint.Fprintf(l.w, "\r\x1b[K")
		l.shown = false
	}
}

// Write writes a line of the log after clearing the progress line.
func (l *statusLine) Write(b []byte) (int, error) {
	l.done()
	return l.w.Write(b)
}

var _ io.Writer = (*statusLine)(nil)
