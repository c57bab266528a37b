package extract

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"seine/internal/page/document"
	"seine/pkg/crawlspec"
)

var update = flag.Bool("update", false, "write what the rules give into the golden files")

// A golden file has parts that begin with "-- name --": the spec, the request with its URL, status
// and header, the body, and the result of the rules.
type golden struct{ spec, request, body, want string }

func readGolden(t testing.TB, file string) golden {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := make(map[string]string)
	name := ""
	for line := range strings.Lines(string(text)) {
		if after, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(line, " --\n") {
			name = strings.TrimSuffix(after, " --\n")
			parts[name] = ""
			continue
		}
		parts[name] += line
	}
	return golden{parts["spec"], parts["request"], parts["body"], parts["want"]}
}

func (g golden) String() string {
	return "-- spec --\n" + g.spec + "-- request --\n" + g.request + "-- body --\n" + g.body + "-- want --\n" + g.want
}

// document returns the document of a golden file. Its request is a URL, optionally a status, and
// header fields.
func (g golden) document() *document.Document {
	first, rest, _ := strings.Cut(g.request, "\n")
	u, status, _ := strings.Cut(first, " ")
	s := document.Source{URL: u, Status: 200, Header: http.Header{}, Body: []byte(g.body)}
	if n, err := strconv.Atoi(status); err == nil {
		s.Status = n
	}
	for line := range strings.Lines(rest) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		http.Header(s.Header).Add(name, value)
	}
	return document.New(s)
}

func (g golden) rules(t testing.TB) (*Rules, error) {
	t.Helper()
	spec, err := parseSpec([]byte(g.spec))
	if err != nil {
		return nil, err
	}
	return Compile(spec)
}

// outcome runs a golden case and returns its results, one per line.
func (g golden) outcome(t testing.TB) string {
	t.Helper()
	rules, err := g.rules(t)
	if err != nil {
		var b strings.Builder
		for _, e := range crawlspec.FieldErrors(err) {
			fmt.Fprintf(&b, "error %s: %v\n", e.Path, e.Err)
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "error %v\n", err)
		}
		return b.String()
	}
	result, err := rules.Apply(context.Background(), g.document())
	if err != nil {
		t.Fatal(err)
	}
	return describeResult(t, result)
}

func describeResult(t testing.TB, result *Result) string {
	t.Helper()
	var b strings.Builder
	for _, rec := range result.Records {
		key := ""
		if rec.Key != "" {
			key = " key=" + rec.Key
		}
		fields := rec.Fields(nil)
		if !json.Valid(fields) {
			t.Errorf("record is no JSON: %s", fields)
		}
		fmt.Fprintf(&b, "record %s %s[%d]%s %s\n", rec.Kind, rec.Rule, rec.Index, key, fields)
	}
	for _, l := range result.Links {
		priority := "-"
		if l.Priority != nil {
			priority = strconv.Itoa(*l.Priority)
		}
		fmt.Fprintf(&b, "link %s %s priority=%s depth=+%d\n", l.Rule, l.URL, priority, l.DepthAdd)
	}
	for _, p := range result.Problems {
		fmt.Fprintf(&b, "problem %s[%d] %q: %s %s\n", p.Rule, p.Index, p.Field, p.Reason, p.Record)
	}
	for _, p := range result.Notes {
		fmt.Fprintf(&b, "note %s[%d] %q: %s\n", p.Rule, p.Index, p.Field, p.Reason)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d golden files, %v: there are at least 40", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			g := readGolden(t, file)
			got := g.outcome(t)
			if again := g.outcome(t); again != got {
				t.Errorf("the second time it is\n%s", again)
			}
			if got == g.want {
				return
			}
			if !*update {
				t.Errorf("got\n%s\nwant\n%s", got, g.want)
				return
			}
			g.want = got
			if err := os.WriteFile(file, []byte(g.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A sent record has its envelope before its fields.
func TestAppendJSON(t *testing.T) {
	rec := Record{Kind: "a", Key: "k", fields: members{{"b", json.Number("1.50")}, {"a", "x"}}}
	env := Envelope{URL: "https://x.example/", FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Crawl: "c", Visit: "v"}
	want := `{"kind":"a","url":"https://x.example/","fetched_at":"2026-01-02T03:04:05.000000Z","crawl":"c","visit":"v","run":0,"key":"k","b":1.50,"a":"x"}`
	if got := string(rec.AppendJSON(nil, env)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
