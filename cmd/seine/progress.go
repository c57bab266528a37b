package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"seine/internal/crawl"
)

// progress shows how a crawl stands: on a terminal one line that changes, and
// elsewhere a line now and then.
type progress struct {
	w        *os.File
	terminal bool
	quiet    bool
	every    time.Duration

	mu    sync.Mutex
	last  time.Time
	shown bool // a line stands on the terminal
	rate  float64
	pages int64
	at    time.Duration
	said  bool
}

func newProgress(w *os.File, quiet bool) *progress {
	p := &progress{w: w, quiet: quiet, terminal: term.IsTerminal(int(w.Fd())), every: 10 * time.Second}
	if p.terminal {
		p.every = 200 * time.Millisecond
	}
	return p
}

// update takes note of how the crawl stands, and shows it if it is time.
func (p *progress) update(now crawl.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	if !p.said {
		p.said = true
		fmt.Fprintf(p.w, "crawling; its streams are at %s\n", now.NATS)
	}
	if time.Since(p.last) < p.every {
		return
	}
	p.last = time.Now()
	if dt := (now.Elapsed - p.at).Seconds(); dt > 0 {
		recent := float64(now.Pages-p.pages) / dt
		if p.rate += (recent - p.rate) * 0.3; p.at == 0 {
			p.rate = recent
		}
		p.at, p.pages = now.Elapsed, now.Pages
	}
	line := p.line(now)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.shown = true
		return
	}
	fmt.Fprintln(p.w, line)
}

func (p *progress) line(now crawl.Progress) string {
	s := fmt.Sprintf("%s  %s pages  %.0f/s  %s queued  %s under way  %s  %s failed",
		now.Elapsed.Round(time.Second), crawl.Count(now.Pages), p.rate, crawl.Count(now.Queued+now.Waiting),
		crawl.Count(now.InFlight+now.Parsing), crawl.Size(now.BytesBody), crawl.Count(now.Failed))
	if n := now.Next; n != nil {
		s += fmt.Sprintf("  waiting for %s: %s", n.Host, n.Why)
		if wait := time.Until(time.UnixMilli(n.NextMS)); wait > time.Second {
			s += ", " + wait.Round(time.Second).String()
		}
	}
	if left := now.MaxPages - now.Pages; now.MaxPages > 0 && left > 0 && p.rate > 0 {
		s += "  " + time.Duration(float64(left)/p.rate*float64(time.Second)).Round(time.Second).String() + " to go"
	}
	return s
}

// done ends the line on the terminal.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// Write passes on a line of the log without spoiling the line of progress.
func (p *progress) Write(b []byte) (int, error) {
	p.done()
	return p.w.Write(b)
}

var _ io.Writer = (*progress)(nil)
