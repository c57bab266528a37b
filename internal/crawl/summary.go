package crawl

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"seine/internal/output"
	"seine/internal/output/dir"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier"
)

// Outcome is how a run came to its end.
type Outcome string

// Outcomes of a run.
const (
	OutcomeComplete    Outcome = "complete"
	OutcomeLimit       Outcome = "limit"       // a limit of the spec was reached
	OutcomeInterrupted Outcome = "interrupted" // the same command goes on with it
	OutcomeFailed      Outcome = "failed"
)

// Summary is what a run tells at its end. Counts are of the whole crawl, over
// all its runs; Seconds and PagesPerSecond are of this run.
type Summary struct {
	Outcome        Outcome                  `json:"outcome"`
	Error          string                   `json:"error,omitempty"`
	Nothing        string                   `json:"nothing,omitempty"` // why there is not one page
	Crawl          string                   `json:"crawl"`
	Pages          int64                    `json:"pages"`
	Records        int64                    `json:"records"` // committed
	BytesWire      int64                    `json:"bytes_wire"`
	BytesBody      int64                    `json:"bytes_body"`
	Seconds        float64                  `json:"seconds"`
	PagesPerSecond float64                  `json:"pages_per_second"`
	URLs           URLCounts                `json:"urls"`
	Requests       map[messages.Class]int64 `json:"requests"`
	DeadLetters    *DeadLetters             `json:"dead_letters,omitempty"`
	SlowestHosts   []frontier.HostStatus    `json:"slowest_hosts"`
	Files          []output.File            `json:"files"`
	Out            string                   `json:"out"`
}

// URLCounts count URLs by where they stand.
type URLCounts struct {
	Known    int64            `json:"known"`
	Done     int64            `json:"done"`
	Failed   int64            `json:"failed"`
	Excluded map[string]int64 `json:"excluded"` // by reason
	Open     int64            `json:"open"`
}

func (c *crawl) summarise(end frontier.End, interrupted bool, slowest []frontier.HostStatus, err error) (*Summary, error) {
	n := c.last
	s := &Summary{
		Crawl: c.Crawl, Nothing: c.nothing, Pages: n.Pages, BytesWire: n.BytesWire, BytesBody: n.BytesBody,
		Seconds: time.Since(c.began).Seconds(), Requests: n.Attempts, SlowestHosts: slowest, Out: c.Writer.Out,
		URLs: URLCounts{Known: n.Known(), Done: n.Done, Failed: n.Failed, Excluded: n.Excluded, Open: n.Open()},
	}
	switch {
	case err != nil:
		s.Outcome, s.Error = OutcomeFailed, err.Error()
	case end == frontier.PagesLimit, end == frontier.BytesLimit, end == frontier.TimeLimit:
		s.Outcome = OutcomeLimit
	case end == frontier.Complete:
		s.Outcome = OutcomeComplete
	case interrupted:
		s.Outcome = OutcomeInterrupted
	default:
		s.Outcome, s.Error = OutcomeFailed, "a stage ended on its own"
	}
	s.Files, s.DeadLetters = c.files(), c.deadLetters()
	for _, f := range s.Files {
		s.Records += int64(f.Records)
	}
	if s.Seconds > 0 {
		s.PagesPerSecond = float64(n.Pages-c.before) / s.Seconds
	}
	return s, err
}

// files lists what is committed of this crawl. An output directory may hold
// the files of others, and of earlier lives of the streams.
func (c *crawl) files() []output.File {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	records, err := c.bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		c.Log.Warn("cannot list the output", "error", err)
		return nil
	}
	log, err := dir.Read(c.Writer.Out, c.Writer.Name)
	if err != nil {
		c.Log.Warn("cannot list the output", "error", err)
		return nil
	}
	refs, err := log.List(-1)
	if err != nil {
		c.Log.Warn("cannot list the output", "error", err)
	}
	var files []output.File
	for _, ref := range refs {
		commit, err := log.Read(ref)
		if err != nil {
			c.Log.Warn("cannot list the output", "error", err)
			continue
		}
		if !commit.Created.Equal(records.CachedInfo().Created) {
			continue
		}
		for _, f := range commit.Files {
			if f.Crawl == c.Crawl {
				files = append(files, f)
			}
		}
	}
	return files
}

// Write prints the summary for a person.
func (s *Summary) Write(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s\n\n", s.Crawl, s.headline())
	row := func(name, format string, a ...any) {
		fmt.Fprintf(w, "  %-12s "+format+"\n", append([]any{name}, a...)...)
	}
	row("pages", "%s, %s (%s on the wire)", Count(s.Pages), Size(s.BytesBody), Size(s.BytesWire))
	row("time", "%s, %.0f pages/s", (time.Duration(s.Seconds * float64(time.Second))).Round(10*time.Millisecond), s.PagesPerSecond)
	row("requests", "%s", byCount(s.Requests))
	row("URLs", "%s known: %s done, %s failed, %s open", Count(s.URLs.Known), Count(s.URLs.Done), Count(s.URLs.Failed), Count(s.URLs.Open))
	if len(s.URLs.Excluded) > 0 {
		row("excluded", "%s", byCount(s.URLs.Excluded))
	}
	if d := s.DeadLetters; d != nil {
		row("dead letters", "%s; the last: %s", byCount(d.ByStage), d.Last)
	}
	for i, h := range s.SlowestHosts {
		name := ""
		if i == 0 {
			name = "slowest"
		}
		row(name, "%s: %d ms a request, %s requests", h.Host, h.MeanMS, Count(h.Requests))
	}
	if s.Nothing != "" {
		row("why", "%s", s.Nothing)
	}
	if len(s.Files) == 0 {
		row("output", "nothing in %s", s.Out)
		return
	}
	row("output", "%s records in %s of %s", Count(s.Records), plural(len(s.Files), "file"), s.Out)
	for i, f := range s.Files {
		if i == 10 {
			row("", "… and %d more", len(s.Files)-i)
			break
		}
		row("", "%s  %s records, %s", f.Path, Count(int64(f.Records)), Size(f.Bytes))
	}
}

func (s *Summary) headline() string {
	switch s.Outcome {
	case OutcomeLimit:
		return "stopped at its limit of pages; a higher --max-pages goes on"
	case OutcomeInterrupted:
		return "interrupted; the same command goes on"
	case OutcomeFailed:
		return "failed: " + s.Error
	case OutcomeComplete:
	}
	return "complete"
}

func byCount[K ~string](m map[K]int64) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		if m[a] != m[b] {
			return int(m[b] - m[a])
		}
		return strings.Compare(string(a), string(b))
	})
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%s %s", Count(m[k]), k)
	}
	return strings.Join(parts, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Count(int64(n)) + " " + what + "s"
}

// Count writes a number with its thousands apart.
func Count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size writes a number of bytes for a person.
func Size(n int64) string {
	const units = "kMGTP"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, u := float64(n), -1
	for v >= 999.5 && u < len(units)-1 {
		v, u = v/1000, u+1
	}
	return fmt.Sprintf("%.3g %cB", v, units[u])
}
