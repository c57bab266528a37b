package extract

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/page/document"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

var fuzzTypes = []string{
	htmlType, "application/json", "application/x-ndjson", "text/csv", "application/xml", "application/rss+xml", "text/plain", "",
}

// checkResult fails if a result exceeds its limits or is not JSON.
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

// applyTwice applies rules twice to a document. The results must be the same.
func applyTwice(t *testing.T, rules *Rules, source document.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var first string
	for i := range 2 {
		result, err := rules.Apply(ctx, document.New(source))
		if errors.Is(err, context.DeadlineExceeded) {
			return // a slow expression of the rules, not a fault of the page
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
			if spec, err = crawlspec.Decode(text); err != nil {
				return
			}
		}
		stored, err := crawlspec.Decode(spec.Encode())
		if err != nil {
			t.Fatalf("stored, the spec is invalid: %v", err)
		}
		if string(stored.Encode()) != string(spec.Encode()) {
			t.Fatalf("stored: %s\nwas %s", stored.Encode(), spec.Encode())
		}
		rules, err := Compile(stored)
		if err != nil {
			if len(crawlspec.FieldErrors(err)) == 0 {
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

// FuzzValues parses numbers and dates in any text.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"1,234.56", "1.234,5", "-€5", "Jan 2, 2006 3:04 PM EST", "2024-05-01", "1e5", "1'000", "–3", "12€50", "12¤99", "(1,234.50)", "2 x 12.50", "١٬٢٣٤٫٥٠", "1.0e2"} {
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
		c := conversion{zone: time.UTC}
		if d, ok := c.date(s); ok {
			if again, ok := c.date(d); !ok || again != d {
				t.Errorf("%q is %q, which is %q", s, d, again)
			}
		}
	})
}

// FuzzJQ evaluates any program with any value: it ends within its limits, has the same result twice
// unless it is near a limit, and leaves the value unchanged.
func FuzzJQ(f *testing.F) {
	for _, s := range []string{
		".", ".a[]?|.b", "reduce .[] as $x (null; . + $x)", "[.[]|select(.>1)]|sort|add", `gsub("a";"b")`, `[match("(a)(b)?";"g")]`, "to_entries|from_entries", ".a |= . + 1", "del(.[0])", `"\(.)"|@base64`,
		"[paths]", "setpath([0];1)", "path(..)", "def f: 1, f; first(f)", "[limit(3;repeat(.))]", "try error(.) catch .", "label $x|.[]|break $x", ". as [$a,{b:$c}]|$a,$c", "[splits(\",\")]", "walk(.)", "tojson|fromjson", "@csv", "getpath([0,1])", ".[1:3] = [1]", "[foreach .[] as $x (0; . + 1; [$x, .])]", "fromdate|todate", `test("(")`, "ltrimstr(1)", ". * 3", "$__loc__", "reduce range(9) as $i (.; [., .])",
	} {
		f.Add(s, []byte(`[1,2,{"a":"b"},[null,"abab"]]`))
		f.Add(s, []byte(`{"a":[1,{"b":2}],"c":"x,y"}`))
		f.Add(s, []byte(`"abcab"`))
	}
	f.Fuzz(func(t *testing.T, text string, body []byte) {
		if len(text) > 1<<10 || len(body) > 1<<10 {
			return
		}
		q, err := compileJQ(text)
		if err != nil {
			return
		}
		v, _, err := document.Value(body)
		if err != nil {
			return
		}
		before := string(appendValue(nil, v))
		first, _, failed := evaluated(t, smallWorkers, q, v)
		again, _, failedAgain := evaluated(t, smallWorkers, q, v)
		if failed == nil && failedAgain == nil && first != again || string(appendValue(nil, v)) != before {
			t.Errorf("%s of %s: %.200s, then %.200s", text, body, first, again)
		}
		if failed != nil && !errors.Is(failed, errBound) {
			t.Errorf("%s of %s: %v", text, body, failed)
		}
	})
}

// FuzzPattern finds and replaces by any regular expression: the results are those of package
// regexp, in texts of any length.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a", "a*", "(a)|b", `\b`, "^", "$", "(?m)^.", "(?i)É", `\s+$`, "a(.*z)?", `\Qa`, "(?s).", "[^a]+", "(?:x{0,9}){1,9}y", `\xff`, "()", "a|", `\z`} {
		f.Add(s, "abc é\xff\nz", "<$1>", uint16(3))
		f.Add(s, "aab", "$0", uint16(200))
	}
	f.Fuzz(func(t *testing.T, expr, part, with string, times uint16) {
		if len(expr) > 200 || len(part) > 40 || len(with) > 40 {
			return
		}
		p, err := compilePattern(expr)
		if err != nil {
			return
		}
		text := strings.Repeat(part, int(times%300))
		work := 0
		spend := func(n int) error {
			if work += n; n < 0 {
				t.Errorf("%d was spent", n)
			}
			if work > 1<<21 {
				return errBound
			}
			return nil
		}
		var got [][]int
		for m, err := range p.all(text, spend) {
			if err != nil {
				return
			}
			got = append(got, slices.Clone(m))
		}
		if want := p.regex.FindAllStringSubmatchIndex(text, -1); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q in %q: %v, want %v", expr, text, got, want)
		}
		if made, err := p.replaceAll(text, with, spend); err == nil && made != p.regex.ReplaceAllString(text, with) {
			t.Errorf("%q by %q in %q: %q", expr, with, text, made)
		}
	})
}

// FuzzPath compares plain paths with the results of the interpreter.
func FuzzPath(f *testing.F) {
	for _, s := range []string{`{"a":{"b":[1,null,{"c":2}]}}`, `{"a":{"b":{"x":1}}}`, `{"a":"x"}`, `null`, `[]`, `{"a":{"b":1.50}}`} {
		f.Add([]byte(s))
	}
	var queries []*query
	for _, text := range []string{".", ".[]", ".a", ".a.b", ".a.b[]", ".a[]", ".a[].b", ".a[].b[]"} {
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
			got = slices.DeleteFunc(slices.Clone(got), nothing)
			if want := interpreted(t, q.text, v, len(got)+1); want != string(appendValue(nil, got)) {
				t.Errorf("%s of %s: %v, want %v", q.text, text, got, want)
			}
		}
	})
}
