package extract

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"seine/internal/document"
	"seine/pkg/messages"
)

var fuzzTypes = []string{
	htmlType, "application/json", "application/x-ndjson", "text/csv", "application/xml", "application/rss+xml", "text/plain", "",
}

// checkResult fails where a result exceeds its bounds or is no JSON.
func checkResult(t *testing.T, result *Result) {
	t.Helper()
	if len(result.Records) > MaxRecords || len(result.Links) > MaxLinks || len(result.Problems) > MaxProblems || len(result.Notes) > MaxProblems {
		t.Errorf("%d records, %d links, %d problems, %d notes", len(result.Records), len(result.Links), len(result.Problems), len(result.Notes))
	}
	for i := range result.Records {
		line := result.Records[i].AppendJSON(nil, Envelope{URL: "https://x.example/", Crawl: "c", Visit: "v"})
		if len(line) > MaxRecord {
			t.Errorf("a record of %d bytes", len(line))
		}
		if err := messages.CheckRecord(map[string][]string{"Nats-Msg-Id": {"1"}}, line); err != nil {
			t.Errorf("%v: %.200q", err, line)
		}
	}
	for _, p := range result.Problems {
		if p.Reason == "" || p.Rule == "" {
			t.Errorf("a problem says nothing: %+v", p)
		}
	}
}

// applyTwice returns what rules make of a document, which must be the same each
// time.
func applyTwice(t *testing.T, rules *Rules, source document.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var first string
	for i := range 2 {
		result, err := rules.Apply(ctx, document.New(source))
		if errors.Is(err, context.DeadlineExceeded) {
			return // a slow expression of the rules; nothing of the page
		}
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, result)
		text, _ := json.Marshal(result.Links)
		for j := range result.Records {
			text = result.Records[j].Fields(text)
		}
		if i == 1 && string(text) != first {
			t.Errorf("first %.500s\nthen %.500s", first, text)
		}
		first = string(text)
	}
}

func addGolden(f *testing.F, add func(g golden)) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() < 1<<16 {
			add(readGolden(f, file))
		}
	}
}

// FuzzRules loads rules, compiles them if they are valid, and applies them.
func FuzzRules(f *testing.F) {
	addGolden(f, func(g golden) { f.Add([]byte(g.spec), []byte(g.body), byte(0)) })
	f.Add([]byte(`{"v":1,"records":[{"kind":"a","fields":{"b":{"jq":".[]","all":true}}}]}`), []byte(`[1,{"a":null}]`), byte(1))
	f.Fuzz(func(t *testing.T, text, body []byte, kind byte) {
		if len(text) > 1<<14 || len(body) > 1<<14 {
			return
		}
		spec, err := parseSpec(text)
		if err != nil {
			if spec, err = messages.DecodeSpec(text); err != nil {
				return
			}
		}
		stored, err := messages.DecodeSpec(spec.Encode())
		if err != nil {
			t.Fatalf("stored, the spec is invalid: %v", err)
		}
		if string(stored.Encode()) != string(spec.Encode()) {
			t.Fatalf("stored: %s\nwas %s", stored.Encode(), spec.Encode())
		}
		rules, err := Compile(stored)
		if err != nil {
			if len(messages.FieldErrors(err)) == 0 {
				t.Errorf("an error without a path: %v", err)
			}
			return
		}
		contentType := fuzzTypes[int(kind)%len(fuzzTypes)]
		applyTwice(t, rules, document.Source{
			URL: "https://x.example/p/1?q=a", Status: 200, Header: http.Header{"Content-Type": {contentType}}, Body: body,
		})
	})
}

// FuzzBody applies the rules of all golden files to any body.
func FuzzBody(f *testing.F) {
	var all []*Rules
	addGolden(f, func(g golden) {
		if rules, err := g.rules(f); err == nil {
			all = append(all, rules)
		}
		f.Add([]byte(g.body), byte(0))
		f.Add([]byte(g.body), byte(len(all)))
	})
	f.Fuzz(func(t *testing.T, body []byte, kind byte) {
		if len(body) > 1<<16 {
			return
		}
		for _, rules := range all {
			applyTwice(t, rules, document.Source{
				URL: "https://x.example/p/1?q=a", Status: 200, Header: http.Header{"Content-Type": {fuzzTypes[int(kind)%len(fuzzTypes)]}}, Body: body,
			})
		}
	})
}

// FuzzValues reads numbers and dates of any text.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"1,234.56", "1.234,5", "-€5", "Jan 2, 2006 3:04 PM EST", "2024-05-01", "1e5", "1'000", "–3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, decimal := range []byte{0, '.', ','} {
			for _, integer := range []bool{false, true} {
				if n, ok := parseNumber(s, decimal, integer); ok && !json.Valid([]byte(n)) {
					t.Errorf("%q is %q, which is no number", s, n)
				}
			}
		}
		if d, ok := parseDate(s, nil, time.UTC); ok {
			if again, ok := parseDate(d, nil, time.UTC); !ok || again != d {
				t.Errorf("%q is %q, which is %q", s, d, again)
			}
		}
	})
}

// FuzzPath holds plain paths to what the interpreter makes of them.
func FuzzPath(f *testing.F) {
	for _, s := range []string{`{"a":{"b":[1,null,{"c":2}]}}`, `{"a":{"b":{"x":1}}}`, `{"a":"x"}`, `null`, `[]`, `{"a":{"b":1.50}}`} {
		f.Add([]byte(s))
	}
	var queries []*query
	for _, text := range []string{".a", ".a.b", ".a.b[]", ".a[]"} {
		q, err := compileJQ(text)
		if err != nil || q.path == nil {
			f.Fatalf("%s: %v, %v", text, q, err)
		}
		queries = append(queries, q)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, _, err := document.Value(text)
		if err != nil {
			return
		}
		for _, q := range queries {
			got, ok := q.walk(v)
			if !ok {
				continue
			}
			want := []any{}
			results := q.run(newRun(t.Context(), page("application/json", "1")), v).results
			for v, ok := results.Next(); ok; v, ok = results.Next() {
				want = append(want, v)
			}
			if string(appendValue(nil, got)) != string(appendValue(nil, want)) {
				t.Errorf("%s of %s: %v, want %v", q.text, text, got, want)
			}
		}
	})
}
