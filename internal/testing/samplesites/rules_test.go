package samplesites

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/page/document"
	"seine/internal/page/extract"
	"seine/internal/page/htmlpage"
	"seine/internal/run/specfile"
	"seine/pkg/crawlspec"
)

// outcome is the result of a spec's rules on a sample site.
type outcome struct {
	records  map[string]Record // by nameOf
	refused  map[string]bool
	answered map[string]int // by URL
	problems []string
}

// applied applies the rules of a site's example spec to its pages: those reached through its rules
// and, if the spec follows links, through links, and those that only its feed and its sitemap list.
func applied(t *testing.T, s *SampleSite) outcome {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", s.Name, "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := specfile.Load("spec.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := extract.Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	out := outcome{map[string]Record{}, map[string]bool{}, map[string]int{}, nil}
	var queue []string
	for _, path := range s.Seeds {
		queue = append(queue, base+path)
	}
	if s.Main() != nil {
		for path := range s.Main() {
			queue = append(queue, base+path)
		}
	}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		if _, done := out.answered[u]; !done && !excluded(t, spec, u) {
			queue = append(queue, out.visit(t, s, rules, u, len(spec.Links.Follow) > 0)...)
		}
	}
	return out
}

// excluded reports whether a crawl would skip a URL.
func excluded(t *testing.T, spec *crawlspec.Spec, u string) bool {
	t.Helper()
	return slices.ContainsFunc(spec.Exclude, func(pattern string) bool {
		re, err := crawlspec.CompilePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		return re.MatchString(u)
	})
}

func (o *outcome) visit(t *testing.T, s *SampleSite, rules *extract.Rules, u string, follow bool) (found []string) {
	t.Helper()
	w := ask(s, u)
	if w.Code == http.StatusServiceUnavailable {
		w = ask(s, u)
	}
	if o.answered[u] = w.Code; w.Code != http.StatusOK {
		return nil
	}
	doc := document.New(document.Source{URL: u, Status: w.Code, Header: w.Header(), Body: w.Body.Bytes()})
	doc.TellPageFields(func(name string) []byte {
		page, err := htmlpage.Scan(w.Body.Bytes(), u, w.Header().Get("Content-Type"), htmlpage.Options{})
		if err != nil || name != "title" {
			t.Errorf("rules ask for %s of %s: %v", name, u, err)
		}
		return []byte(asJSON(t, page.Title))
	})
	result, err := rules.Apply(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	for i := range result.Records {
		o.add(t, &result.Records[i], u)
	}
	for _, p := range result.Problems {
		o.refused[u] = true
		o.problems = append(o.problems, fmt.Sprintf("%s: %s %s: %s", u, p.Rule, p.Field, p.Reason))
	}
	for _, l := range result.Links {
		found = append(found, l.URL)
	}
	if follow && strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		for _, l := range links(t, strings.TrimPrefix(u, base), w.Body.String()) {
			found = append(found, base+l)
		}
	}
	return found
}

func (o *outcome) add(t *testing.T, r *extract.Record, u string) {
	t.Helper()
	line := r.AppendJSON(nil, extract.Envelope{URL: u, FetchedAt: time.Unix(0, 0), Crawl: "c", Visit: "v"})
	var m Record
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	for _, name := range []string{"fetched_at", "crawl", "visit", "run"} {
		delete(m, name)
	}
	id := nameOf(m)
	if _, twice := o.records[id]; twice {
		t.Errorf("%s is there twice", id)
	}
	o.records[id] = m
}

// nameOf returns a key that identifies a record.
func nameOf(r Record) string {
	return fmt.Sprint(r["kind"], " ", r["url"], " ", r["key"], " ", r["anchor"], " ", r["language"])
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// from returns a text from shortly before its first difference to another text.
func from(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-40):]
}

// same fails the test with the fields that differ.
func same(t *testing.T, got, want Record) {
	t.Helper()
	for name := range want {
		if g, w := asJSON(t, got[name]), asJSON(t, want[name]); g != w {
			t.Errorf("%s: %s\n got %s\nwant %s", nameOf(want), name, from(g, w), from(w, g))
		}
	}
	for name := range got {
		if _, wanted := want[name]; !wanted {
			t.Errorf("%s: has %s", nameOf(want), name)
		}
	}
}

// The rules of each example extract exactly the truth.
func TestRulesOfTheExamplesGiveTheTruth(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			s := shape(t, name)
			got, truth := applied(t, s), s.Truth(base)
			wanted := 0
			for _, want := range truth.Records {
				if want["kind"] == nil {
					continue // the record of a page does not come from rules
				}
				wanted++
				same(t, got.records[nameOf(want)], want)
			}
			if len(got.records) != wanted {
				t.Errorf("%d records, want %d", len(got.records), wanted)
			}
			for _, u := range truth.Refused {
				if !got.refused[u] {
					t.Errorf("%s gives a record, or none, without a word", u)
				}
			}
			if len(got.refused) != len(truth.Refused) {
				t.Errorf("refused: %s", strings.Join(got.problems, "\n"))
			}
		})
	}
}

// Lists are followed to their end and no further.
func TestRulesOfOpportunitiesEndTheirLists(t *testing.T) {
	got := applied(t, shape(t, "opportunities"))
	var lists []string
	for u := range got.answered {
		if strings.Contains(u, "?page=") {
			lists = append(lists, strings.TrimPrefix(u, base+"/opportunities/"))
		}
	}
	slices.Sort(lists)
	want := []string{
		"alabama?page=2", "alabama?page=3", "colorado?page=2", "colorado?page=3", "georgia?page=2",
		"new-mexico?page=2", "new-mexico?page=3", "new-mexico?page=4", "new-mexico?page=5",
		"ohio?page=2", "vermont?page=2", "wyoming?page=2",
	}
	if !slices.Equal(lists, want) {
		t.Errorf("lists %q, want %q", lists, want)
	}
}
