package history

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/output/warc"
	"seine/pkg/stages/frontier/frontierapi"
)

// log is a commit log in memory, with the content of the indexes.
type log struct {
	commits []*output.Commit
	indexes map[string]string
	opened  []string
}

func (l *log) List(int) (refs []output.Ref, err error) {
	for _, c := range l.commits {
		refs = append(refs, output.Ref{Name: c.Name()})
	}
	return refs, nil
}

func (l *log) Read(r output.Ref) (*output.Commit, error) {
	i := slices.IndexFunc(l.commits, func(c *output.Commit) bool { return c.Name() == r.Name })
	return l.commits[i], nil
}

func (l *log) Open(f output.File) (io.ReadCloser, error) {
	l.opened = append(l.opened, f.Path)
	return io.NopCloser(strings.NewReader(l.indexes[f.Path])), nil
}

// add adds a commit at a minute, with a capture of each URL.
func (l *log) add(t *testing.T, minute int, ext string, urls ...string) {
	t.Helper()
	file := fmt.Sprintf("c/%d.warc.gz", minute)
	index := fmt.Sprintf("c/%d.cdxj%s", minute, ext)
	l.commits = append(l.commits, &output.Commit{
		FirstSeq: uint64(minute), LastSeq: uint64(minute), Stored: minuteAt(minute),
		Files: []output.File{{Path: file, Crawl: "c"}, {Path: index, Crawl: "c", IndexOf: file}},
	})
	var x warc.Index
	for i, u := range urls {
		x.Add(warc.Capture{URL: u, Date: minuteAt(minute), Status: 200, MIME: "text/html", Extent: warc.Extent{Offset: int64(100 * i), Length: 100}})
	}
	var b strings.Builder
	if err := x.Write(&b, file); err != nil {
		t.Fatal(err)
	}
	l.indexes[index] = b.String()
}

func minuteAt(n int) time.Time { return time.Date(2026, 11, 23, 1, n, 0, 0, time.UTC) }

// In an archive, only the indexes of commits that may have the capture are read, by the time of the
// request, and no further than to the capture.
func TestCapturesAreFoundByTheirIndexes(t *testing.T) {
	const url = "https://a.example/b"
	l := &log{indexes: make(map[string]string)}
	l.add(t, 10, "", url)
	l.add(t, 20, "", "https://a.example/a", url, "https://a.example/b?c=1", "http://a.example/b")
	l.add(t, 30, "", "https://a.example/c")
	l.add(t, 40, "", url)
	f := &finder{q: Options{Out: &output.Output{Log: l}, Within: time.Minute}}
	f.Crawl, f.URL = "c", url
	f.History.History = []frontierapi.Attempt{{AtMS: minuteAt(15).UnixMilli()}}
	if err := f.files(); err != nil {
		t.Fatal(err)
	}
	want := []Capture{{File: "c/20.warc.gz", Offset: 100, Length: 100, Timestamp: "20261123012000", Status: "200", MIME: "text/html"}}
	if !f.Archive || f.Out || !slices.Equal(f.Captures, want) || !slices.Equal(l.opened, []string{"c/20.cdxj"}) {
		t.Errorf("%+v, opened %v", f.Captures, l.opened)
	}
	f.Known = true
	if text := written(t, &f.History); !strings.Contains(text, "c/20.warc.gz") || !strings.Contains(text, "offset 100") {
		t.Errorf("written as\n%s", text)
	}
}

// If nothing can be found, the reason is reported.
func TestNoCaptureIsTold(t *testing.T) {
	for ext, want := range map[string]string{"": "no index of the files has it", ".age": "its indexes are encrypted"} {
		l := &log{indexes: make(map[string]string)}
		l.add(t, 20, ext, "https://a.example/other")
		f := &finder{q: Options{Out: &output.Output{Log: l}, Within: time.Minute}}
		f.Crawl, f.URL, f.Known = "c", "https://a.example/b", true
		f.History.History = []frontierapi.Attempt{{AtMS: minuteAt(15).UnixMilli()}}
		if err := f.files(); err != nil {
			t.Fatal(err)
		}
		if text := written(t, &f.History); len(f.Captures) > 0 || !strings.Contains(text, want) || strings.Count(text, "archive ") != 1 {
			t.Errorf("written as\n%s", text)
		}
	}
}
