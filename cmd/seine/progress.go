package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/truncate"
	"seine/internal/run/connect"
	"seine/internal/run/crawl"
	"seine/pkg/crawlspec"
)

// progress shows the progress of a crawl.
type progress struct {
	*statusLine
	rate   float64 // recent pages per second
	before *crawl.Progress
}

func newProgress(w *os.File, quiet bool) *progress {
	return &progress{statusLine: newStatusLine(w, quiet)}
}

// update records the crawl's progress, and shows it if it is time.
func (p *progress) update(now crawl.Progress) {
	p.statusLine.update(func() string { return statusHint(now) }, func() string {
		p.measure(&now)
		return p.line(now)
	})
}

// measure updates the rate. Pages that a resumed crawl fetched earlier do not count.
func (p *progress) measure(now *crawl.Progress) {
	before := p.before
	p.before = now
	if before == nil {
		return
	}
	if dt := (now.Elapsed - before.Elapsed).Seconds(); dt > 0 {
		recent := float64(now.Pages-before.Pages) / dt
		if p.rate == 0 {
			p.rate = recent
		}
		p.rate += (recent - p.rate) * 0.3
	}
}

// statusHint returns how to watch the crawl from another terminal.
func statusHint(now crawl.Progress) string {
	first := fmt.Sprintf("crawling as process %d", os.Getpid())
	switch {
	case now.Data == "":
		return first + " over the NATS server " + now.NATS
	case filepath.Clean(now.Data) == filepath.Clean(connect.DefaultData):
		return first + "; to watch it from another terminal: seine status --watch"
	}
	return first + "; to watch it from another terminal: seine status --watch --data " + now.Data
}

func (p *progress) line(now crawl.Progress) string {
	s := fmt.Sprintf("%s  %s  %.0f/s  %s queued  %s in flight  %s  %s failed",
		now.Elapsed.Round(time.Second), humanize.Plural(now.Pages, "page"), p.rate, humanize.Count(now.Queued+now.Waiting),
		humanize.Count(now.InFlight+now.Parsing), humanize.Size(now.BytesBody), humanize.Count(now.Failed))
	if now.FailedLogins > 0 {
		s += "  " + humanize.Plural(now.FailedLogins, "login") + " failed: check render.login"
	}
	if now.State == crawlspec.Paused {
		return s + "  paused: run seine resume to continue"
	}
	if n := now.Next; n != nil {
		s += fmt.Sprintf("  waiting for %s: %s", n.Host, n.Why)
		if wait := time.Until(time.UnixMilli(n.NextMS)); wait > time.Second {
			s += ", " + wait.Round(time.Second).String()
		}
	}
	if f := now.LastFailure; f != nil && time.Since(time.UnixMilli(f.AtMS)) < time.Minute {
		s += "  retrying after " + truncate.To(f.Text(), maxFailureText)
	}
	return s + p.toGo(now)
}

// maxFailureText limits the last failure on the line, in bytes.
const maxFailureText = 120

// toGo estimates the remaining time for the known URLs, or for the rest of max_pages.
func (p *progress) toGo(now crawl.Progress) string {
	left, unless := now.Pending(), ", if nothing more is found"
	if most := now.MaxPages - now.Pages; now.MaxPages > 0 && most <= left {
		left, unless = most, ""
	}
	if left <= 0 || p.rate <= 0 {
		return ""
	}
	takes := time.Duration(float64(left) / p.rate * float64(time.Second))
	if unless != "" {
		takes = max(takes, now.Longest)
	}
	return "  " + takes.Round(time.Second).String() + " to go" + unless
}
