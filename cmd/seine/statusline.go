package main

import (
	"io"
	"os"
	"sync"
	"time"

	"seine/internal/base/safeprint"
)

// statusLine shows the progress of long work: on a terminal one line that changes, and
// elsewhere a line now and then.
type statusLine struct {
	w               *os.File
	quiet, terminal bool
	every           time.Duration

	mu    sync.Mutex
	last  time.Time
	shown bool // a line stands on the terminal
	begun bool
}

func newStatusLine(w *os.File, quiet bool) *statusLine {
	l := &statusLine{w: w, quiet: quiet, terminal: isTerminal(w), every: 10 * time.Second}
	if l.terminal {
		l.every = 200 * time.Millisecond
	}
	return l
}

// update writes what first returns, once, and then what line returns, if it is time
// for that. It writes no line that is empty.
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

// done ends the line on the terminal.
func (l *statusLine) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		safeprint.Fprintf(l.w, "\r\x1b[K")
		l.shown = false
	}
}

// Write passes on a line of the log without spoiling the line of progress.
func (l *statusLine) Write(b []byte) (int, error) {
	l.done()
	return l.w.Write(b)
}

var _ io.Writer = (*statusLine)(nil)
