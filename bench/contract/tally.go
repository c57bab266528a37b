// Package contract checks what docs/contract.md promises of crawls of the test web: each page once in every output, each URL
// in the state it must end in, distances between requests to a host by the log of the web alone, robots.txt, dead letters. A
// Tally takes note of what was seen, of faults that were made meanwhile, and of promises that were broken.
package contract

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// Tally is what a run has seen. It is safe for concurrent use.
type Tally struct {
	mu         sync.Mutex
	journal    io.Writer // every event with its time
	faults     map[string]int
	under      map[string]int // faults that are not over
	exits      map[string]int // of processes that ended by themselves, by their last words
	violations []string
	broken     int             // violations in all; only the first are kept
	told       map[string]bool // requests that were reported

	crawls             int
	pages              int64
	records            map[string]int64 // by output
	lost, repeated     int64
	early, overlapping int64
	forbidden          int64
	smallest           float64 // gap as a share of the delay
	moved              time.Time
	stall              time.Duration // longest without progress
	requests           int64
	deadLetters        int
}

// NewTally is a tally of nothing yet, whose events go to a journal as well.
func NewTally(journal io.Writer) *Tally {
	return &Tally{
		journal: journal, faults: make(map[string]int), under: make(map[string]int), exits: make(map[string]int),
		records: make(map[string]int64), smallest: noGap, told: make(map[string]bool),
	}
}

const (
	keptViolations = 50
	noGap          = 1e9 // no host was asked twice
	stampFormat    = "15:04:05.000"
)

// Note writes to the journal.
func (t *Tally) Note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write(format, args...)
}

func (t *Tally) write(format string, args ...any) {
	_, _ = fmt.Fprintf(t.journal, time.Now().Format(stampFormat)+" "+format+"\n", args...)
}

// Violation takes note of a promise that was broken.
func (t *Tally) Violation(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	t.write("VIOLATION %s", text)
	fmt.Fprintln(os.Stderr, "VIOLATION", text)
	t.broken++
	if len(t.violations) < keptViolations {
		t.violations = append(t.violations, time.Now().Format(stampFormat)+" "+text)
	}
}

// Violated is how many promises were broken.
func (t *Tally) Violated() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}

// Begin takes note of a fault, and returns what ends it.
func (t *Tally) Begin(kind, what string) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults[kind]++
	t.under[kind]++
	t.write("fault %s: %s", kind, what)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.under[kind]--; t.under[kind] == 0 {
			delete(t.under, kind)
		}
		t.write("over  %s: %s", kind, what)
	}
}

// Exit takes note of a process that ended by itself.
func (t *Tally) Exit(name, state, words string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write("exit  %s: %s: %s", name, state, words)
	t.exits[name+": "+state]++
}

// Progress takes note of something done; without it the time since the last one counts as a stall, from the first look on:
// before that the commands were built.
func (t *Tally) Progress(done bool) (since time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.moved.IsZero() {
		t.moved = time.Now()
	}
	since = time.Since(t.moved)
	t.stall = max(t.stall, since)
	if done {
		t.moved = time.Now()
	}
	return since
}

// crawled takes note of a crawl that was checked to its end.
func (t *Tally) crawled(pages int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crawls++
	t.pages += int64(pages)
}

// dead takes note of dead letters, of pages that all can be handled.
func (t *Tally) dead(n int, subjects map[string]uint64) {
	t.mu.Lock()
	t.deadLetters = n
	t.mu.Unlock()
	if n > 0 {
		t.Violation("%d dead letters, of pages that all can be handled: %v", n, subjects)
	}
}

// Line is how the run stands.
func (t *Tally) Line(passed time.Duration, now string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, k := range t.faults {
		n += k
	}
	return fmt.Sprintf("%8s  %d crawls, %d pages, %d faults, %d violations, longest stall %s | %s | %v",
		passed.Round(time.Second), t.crawls, t.pages, n, t.broken, t.stall.Round(100*time.Millisecond), now,
		slices.Sorted(maps.Keys(t.under)))
}

// Report prints the end.
func (t *Tally) Report(w io.Writer, passed time.Duration, uncovered []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	p("\nfaults injected in %s:", passed.Round(time.Second))
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(t.faults)) {
		p("  %-34s %5d", kind, t.faults[kind])
		total += t.faults[kind]
	}
	p("  %-34s %5d", "in all", total)
	for _, what := range uncovered {
		p("not covered: %s", what)
	}
	if len(t.exits) > 0 {
		p("ended by themselves, and were started again:")
	}
	for _, what := range slices.Sorted(maps.Keys(t.exits)) {
		p("  %-40s %5d", what, t.exits[what])
	}
	p("crawls completed      %d", t.crawls)
	p("pages                 %d (%d requests)", t.pages, t.requests)
	for _, out := range slices.Sorted(maps.Keys(t.records)) {
		p("records in %-10s %d", out, t.records[out])
	}
	p("lost                  %d", t.lost)
	p("repeated              %d", t.repeated)
	p("gaps below the delay  %d (and %d requests while another was under way)", t.early, t.overlapping)
	if t.smallest < noGap {
		p("smallest gap / delay  %.4f", t.smallest)
	}
	p("against robots.txt    %d", t.forbidden)
	p("dead letters          %d", t.deadLetters)
	p("longest stall         %s", t.stall.Round(100*time.Millisecond))
	p("violations            %d", t.broken)
	for _, v := range t.violations {
		p("  %s", v)
	}
}
