package contract

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/output/dir"
	"seine/internal/testing/testweb"
)

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// asked is a request from so many milliseconds on to so many; none is the end of one under way.
func asked(host, path string, from, to int) testweb.Request {
	r := testweb.Request{Host: host, Path: path, At: began.Add(time.Duration(from) * time.Millisecond)}
	if to > 0 {
		r.End = began.Add(time.Duration(to) * time.Millisecond)
	}
	return r
}

func TestPaceOf(t *testing.T) {
	const delay = 100 * time.Millisecond
	for name, c := range map[string]struct {
		requests           []testweb.Request
		early, overlapping int
		smallest           float64
	}{
		"kept":                     {[]testweb.Request{asked("a", "/", 0, 10), asked("a", "/1", 110, 120), asked("a", "/2", 230, 240)}, 0, 0, 1},
		"hosts are no concern":     {[]testweb.Request{asked("a", "/", 0, 10), asked("b", "/", 5, 15), asked("a", "/1", 135, 140)}, 0, 0, 1.25},
		"robots.txt counts":        {[]testweb.Request{asked("a", "/robots.txt", 0, 10), asked("a", "/", 60, 70)}, 1, 0, 0.5},
		"a gap below the delay":    {[]testweb.Request{asked("a", "/", 0, 10), asked("a", "/1", 109, 120)}, 1, 0, 0.99},
		"two at a time":            {[]testweb.Request{asked("a", "/", 0, 10), asked("a", "/1", 9, 120)}, 0, 1, 0},
		"beside one under way":     {[]testweb.Request{asked("a", "/", 0, 0), asked("a", "/1", 500, 520)}, 0, 1, 0},
		"after the longer of two":  {[]testweb.Request{asked("a", "/", 0, 900), asked("a", "/1", 10, 20), asked("a", "/2", 950, 960)}, 1, 1, 0},
		"what a page needs":        {[]testweb.Request{asked("a", "/", 0, 10), asked("a", "/static/a", 20, 30), asked("a", "/static/b", 25, 40), asked("a", "/1", 140, 150)}, 0, 0, 1},
		"too early after that":     {[]testweb.Request{asked("a", "/", 0, 10), asked("a", "/static/a", 50, 60), asked("a", "/1", 120, 130)}, 1, 0, 0.6},
		"that beside a page":       {[]testweb.Request{asked("a", "/", 0, 10), asked("a", "/1", 110, 150), asked("a", "/static/a", 120, 130)}, 0, 1, 0},
		"a page beside that":       {[]testweb.Request{asked("a", "/", 0, 10), asked("a", "/static/a", 20, 200), asked("a", "/1", 120, 130)}, 0, 1, 0},
		"in the order of the log?": {[]testweb.Request{asked("a", "/1", 110, 120), asked("a", "/", 0, 10)}, 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := paceOf(c.requests, delay)
			if len(p.early) != c.early || len(p.overlapping) != c.overlapping || p.smallest != c.smallest {
				t.Errorf("early %q, overlapping %q, smallest %v", p.early, p.overlapping, p.smallest)
			}
		})
	}
}

// writer is the name of the writer into the output.
const writer = "default"

// half begins the URL of a record that lacks the end of its page.
const half = "half "

// outputOf makes an output with one commit for each group of URLs.
func outputOf(t *testing.T, commits ...[]string) Output {
	t.Helper()
	out := t.TempDir()
	sink, err := dir.Open(out, writer, slog.New(slog.DiscardHandler), nil)
	check(t, err)
	part, _, err := sink.OpenPartition(0, began)
	check(t, err)
	for i, urls := range commits {
		c := &output.Commit{V: 1, Created: began, FirstSeq: uint64(10*i + 1), LastSeq: uint64(10*i + 10), Stored: began, Visits: make([]byte, 16*len(urls))}
		chunk, err := part.Create(c.Name(), output.Group{Crawl: "c", Dir: "c"}, "jsonl")
		check(t, err)
		var text strings.Builder
		for _, u := range urls {
			url, half := strings.CutPrefix(u, half)
			fmt.Fprintf(&text, "{\"url\":%q,\"text\":%q}\n", url, map[bool]string{true: "It begins", false: "and ends. Top"}[half])
		}
		_, err = io.WriteString(chunk, text.String())
		check(t, err)
		f, err := chunk.Finish()
		check(t, err)
		f.Crawl, f.Records, f.RawBytes = "c", len(urls), int64(text.Len())
		c.Files = []output.File{f}
		_, err = part.Commit(c)
		check(t, err)
	}
	check(t, part.Close())
	return Output{Out: out}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is wrong with an output must be seen, counted and reported, and nothing where nothing is wrong.
func TestWhatIsWrongIsReported(t *testing.T) {
	pages := []string{"http://a/", "http://a/1", "http://a/2"}
	for name, c := range map[string]struct {
		commits        [][]string
		lost, repeated int64
		want           []string // in the report
	}{
		"nothing":                 {[][]string{pages}, 0, 0, []string{"lost                  0", "violations            0"}},
		"a record is lost":        {[][]string{pages[:2]}, 1, 0, []string{"1 records are lost: http://a/2"}},
		"a record is repeated":    {[][]string{pages, pages[1:2]}, 0, 1, []string{"1 records are repeated: http://a/1"}},
		"repeated in one file":    {[][]string{append(slices.Clone(pages), pages[0], pages[0])}, 0, 2, []string{"repeated              2"}},
		"one of another web":      {[][]string{append(slices.Clone(pages), "http://b/")}, 0, 0, []string{"1 records are not of the web: http://b/"}},
		"lost and repeated":       {[][]string{{pages[0], pages[0], pages[1]}}, 1, 1, []string{"lost                  1", "repeated              1"}},
		"half a page":             {[][]string{{pages[0], half + pages[1], pages[2]}}, 0, 0, []string{"1 records are of half a page: http://a/1"}},
		"nothing was ever stored": {nil, 3, 0, []string{"3 records are lost"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := outputOf(t, c.commits...)
			got, err := p.committed(writer, "c")
			check(t, err)
			tell := NewTally(io.Discard)
			tell.judgeRecords("c", got, pages, writer)
			var report bytes.Buffer
			tell.Report(&report, time.Minute, nil)
			if tell.lost != c.lost || tell.repeated != c.repeated {
				t.Errorf("%d lost, %d repeated", tell.lost, tell.repeated)
			}
			if wrong := name != "nothing"; wrong != (tell.Violated() > 0) {
				t.Errorf("%d violations", tell.Violated())
			}
			for _, want := range c.want {
				if !strings.Contains(report.String(), want) {
					t.Errorf("no %q in the report:\n%s", want, report.String())
				}
			}
		})
	}
}

func TestWrongRequestsAreReportedOnce(t *testing.T) {
	tell := NewTally(io.Discard)
	requests := []testweb.Request{
		asked("a", "/", 0, 10), asked("a", "/early", 50, 60), asked("a", "/beside", 55, 70), asked("a", "/private/x", 500, 510),
	}
	forbidden := map[string]bool{"a/private/x": true}
	tell.judgeRequests("c", requests[:3], 0, 100*time.Millisecond, forbidden)
	tell.judgeRequests("c", requests, 3, 100*time.Millisecond, forbidden) // looks at all of them again
	if tell.early != 1 || tell.overlapping != 1 || tell.forbidden != 1 || tell.requests != 4 || tell.Violated() != 3 {
		t.Errorf("early %d, overlapping %d, forbidden %d, requests %d, violations %q",
			tell.early, tell.overlapping, tell.forbidden, tell.requests, tell.violations)
	}
}
