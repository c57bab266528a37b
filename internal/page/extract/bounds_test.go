package extract

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"seine/internal/page/document"
)

func mustCompile(t testing.TB, spec string) *Rules {
	t.Helper()
	s, err := parseSpec([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func page(contentType, body string) *document.Document {
	return document.New(document.Source{
		URL: "https://x.example/", Status: 200, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body),
	})
}

func mustApply(t testing.TB, rules *Rules, doc *document.Document) *Result {
	t.Helper()
	result, err := rules.Apply(context.Background(), doc)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const htmlType = "text/html; charset=utf-8"

// longBounds take half a minute with the race detector, in addition to similar ones that do not:
// they run without it.
var longBounds = []string{"work", "xpath steps", "a value far too large"}

// Rules end at the limits on any page, report that, and keep the previous results.
func TestBounds(t *testing.T) {
	for _, tt := range []struct {
		name, spec, contentType, body, reason string
		records, links                        int
	}{
		{"records", "records: [{kind: a, each: li, fields: {t: {get: text}}}]", htmlType,
			strings.Repeat("<li>x", MaxRecords+5), "more than 10000 records", MaxRecords, 0},
		{"links", `follow: [{types: json, with: {a: {jq: "range(200)", all: true}, b: {jq: "range(200)", all: true}}, url: "/{a}/{b}"}]`,
			"application/json", "{}", "more than 10000 links", 0, MaxLinks},
		{"size of a record", "records: [{kind: a, fields: {t: p}}, {kind: b, fields: {t: h1}}]", htmlType,
			"<h1>kept</h1><p>" + strings.Repeat("x", MaxRecord), "fit a message", 1, 0},
		{"size of records", "records: [{kind: a, each: li, fields: {t: {xpath: //p}}}]", htmlType,
			"<div>" + strings.Repeat("<li><p>"+strings.Repeat("x", 200_000)+"</p>", 40) + strings.Repeat("<li><p>"+strings.Repeat("y", 1000), 10),
			"", 50, 0},
		{"size of a key", `records: [{kind: a, key: "{t}{t}", fields: {t: p}}]`, htmlType, "<p>" + strings.Repeat("x", 513), "the key has 1026 bytes", 0, 0},
		{"work", "records: [{kind: a, each: div, fields: {t: {get: text, regex: '^.'}}}]", htmlType,
			strings.Repeat("<div>", 400) + strings.Repeat("x", 2<<20), "read more than", 255, 0},
		{"xpath steps", `records: [{kind: a, fields: {t: {xpath: "count(//li[count(//li[count(//li) > 1]) > 1])"}}}]`, htmlType,
			strings.Repeat("<li>x", 2000), "took more than", 0, 0},
		{"xpath searches for all matches", `records: [{kind: a, fields: {t: {xpath: "replace(//p, 'a(.*z)?', 'b')"}}}]`, htmlType,
			"<p>" + strings.Repeat("a", maxTextReplace+1), "replace of the field", 0, 0},
		{"xpath with a large regex", `records: [{kind: a, fields: {t: {xpath: "count(//p[matches(., '(?:(a|b){1,50}){1,20}c')])"}}}]`, htmlType,
			"<p>" + strings.Repeat("a", maxTextRegex/10), "or replace of the field", 0, 0},
		{"xpath with a linear regex", `records: [{kind: a, fields: {t: {xpath: "string-length(replace(//p, '[^0-9]+', ''))"}}}]`, htmlType,
			"<p>" + strings.Repeat("a1", 10*maxTextReplace), "", 1, 0},
		{"xpath with a regex of the page", `records: [{kind: a, fields: {t: {xpath: "count(//p[matches(., string(//b))])"}}}]`, htmlType,
			"<p>a<b>" + strings.Repeat("a?", 50) + "</b>", "too large", 0, 0},
		{"xpath that joins a text", `records: [{kind: a, fields: {t: {xpath: "matches(string-join(//p, ''), 'a|b')"}}}]`, htmlType,
			strings.Repeat("<p>"+strings.Repeat("x", 1000), maxTextRegex/900), "or replace of the field", 0, 0},
		{"a value far too large", `records: [{kind: a, fields: {t: {jq: .}}}]`, "application/json",
			"[" + strings.Repeat("null,", 5*MaxRecord) + "1]", "more than 4096000 bytes", 0, 0},
		{"deep", "records: [{kind: a, fields: {t: p}}]", htmlType, strings.Repeat("<div>", 600) + "<p>x", "512", 0, 0},
		{"deep JSON", "records: [{kind: a, fields: {t: {jq: .}}}]", "application/json",
			strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "too large", 0, 0},
		{"deep value", `records: [{kind: a, fields: {t: {jq: "reduce range(2000) as $i (0; [.])"}}}]`, "application/json", "1",
			"more than 1000 deep", 0, 0},
		{"values", `records: [{kind: a, fields: {t: {jq: "range(1e9)", all: true}}}]`, "application/json", "1", "", 1, 0},
		{"panic of a function", `records: [{kind: a, fields: {t: {xpath: "starts-with(1, //p)"}}}]`, htmlType, "<p>x", "starts-with", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if withRace && slices.Contains(longBounds, tt.name) {
				t.Skip("runs without the race detector")
			}
			rules := mustCompile(t, tt.spec)
			rules.limit = time.Hour // these limits are reached first, on the slowest machine
			result := mustApply(t, rules, page(tt.contentType, tt.body))
			if len(result.Records) != tt.records || len(result.Links) != tt.links {
				t.Errorf("%d records, %d links", len(result.Records), len(result.Links))
			}
			reason := ""
			if len(result.Problems) > 0 {
				reason = result.Problems[0].Reason
			}
			if !strings.Contains(reason, tt.reason) || tt.reason == "" && reason != "" {
				t.Errorf("reason %q", reason)
			}
		})
	}
}

func TestTotalSizeOfRecords(t *testing.T) {
	body := strings.Repeat("<li>"+strings.Repeat("x", 500_000), 24)
	spec := "records:\n" + strings.Repeat("- {kind: a, each: li, fields: {t: {get: text}}}\n", 6)
	result := mustApply(t, mustCompile(t, spec), page(htmlType, body))
	size := 0
	for i := range result.Records {
		size += len(result.Records[i].AppendJSON(nil, Envelope{URL: "https://x.example/"}))
	}
	if size > MaxRecordBytes || size < MaxRecordBytes/2 || len(result.Problems) == 0 {
		t.Errorf("%d bytes, problems %v", size, result.Problems)
	}
}

// The caller's context ends a rule that would not end. The context is then the error, not a problem
// of the page.
func TestContextEnds(t *testing.T) {
	rules := mustCompile(t, `records: [{kind: a, fields: {t: {jq: "last(repeat(1))"}}}]`)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := rules.Apply(ctx, page("application/json", "1")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestRulesTakeTooLong(t *testing.T) {
	rules := mustCompile(t, `records: [{kind: a, fields: {t: {jq: "last(repeat(1))"}}}, {kind: b, fields: {t: {jq: .}}}]`)
	rules.limit = 20 * time.Millisecond
	result := mustApply(t, rules, page("application/json", "1"))
	if len(result.Problems) == 0 || !strings.Contains(result.Problems[0].Reason, "longer than 1m0s") {
		t.Errorf("got %+v", result)
	}
}

func TestManyProblems(t *testing.T) {
	rules := mustCompile(t, "records: [{kind: a, each: li, fields: {t: {css: b, required: true}, n: {get: text, as: number}}}]")
	result := mustApply(t, rules, page(htmlType, strings.Repeat("<li>x", 500)))
	if len(result.Problems) != MaxProblems {
		t.Errorf("%d problems", len(result.Problems))
	}
}

// A page that no rule matches is not parsed.
func TestNoRuleCostsNothing(t *testing.T) {
	rules := mustCompile(t, `records: [{kind: a, match: "https://other.example/*", fields: {t: h1}}, {kind: b, types: json, fields: {t: {jq: .}}}]`)
	if !rules.Matches("https://x.example/") || mustCompile(t, `records: [{kind: a, match: "https://other.example/*", fields: {t: h1}}]`).
		Matches("https://x.example/") {
		t.Error("Matches takes one URL for another")
	}
	doc := page(htmlType, strings.Repeat("<b>", 600)) // whose DOM cannot be made
	if result := mustApply(t, rules, doc); len(result.Records)+len(result.Problems)+len(result.Notes) > 0 {
		t.Errorf("got %+v", result)
	}
	if !mustCompile(t, "").Empty() || rules.Empty() {
		t.Error("Empty")
	}
}

// All workers use the rules at once.
func TestConcurrentUse(t *testing.T) {
	g := readGolden(t, "testdata/product.txt")
	x := readGolden(t, "testdata/xpath.txt")
	for _, g := range []golden{g, x} {
		rules, err := g.rules(t)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					result, err := rules.Apply(context.Background(), g.document())
					if err != nil {
						t.Error(err)
						return
					}
					if got := describeResult(t, result); got != g.want {
						t.Errorf("got %s", got)
					}
				}
			})
		}
		wg.Wait()
	}
}

// Masking changes every text of a record and the names within its fields, but not the document.
func TestMapTexts(t *testing.T) {
	rules := mustCompile(t, `records: [{kind: a, key: "{a}", fields: {a: {jq: .a}, o: {jq: .o}, n: {jq: ".l[]", all: true, fields: {x: {jq: .}}}}}]`)
	doc := page("application/json", `{"a":"x","o":{"k":["y",1,null]},"l":["z"]}`)
	for range 2 {
		rec := mustApply(t, rules, doc).Records[0]
		if got := string(rec.Fields(nil)); got != `{"a":"x","o":{"k":["y",1,null]},"n":[{"x":"z"}]}` {
			t.Fatalf("before: %s", got)
		}
		rec.MapTexts(func(field, text string) string { return field + ":" + text })
		if got := string(rec.Fields(nil)); got != `{"a":"a:x","o":{"o:k":["o:y",1,null]},"n":[{"n:x":"n:z"}]}` || rec.Key != "key:x" {
			t.Errorf("after: %s, key %s", got, rec.Key)
		}
	}
}

func ExampleRules_Apply() {
	spec, _ := parseSpec([]byte(`
records:
  - kind: book
    each: li
    fields: {title: b, price: {css: i, as: number}}
`))
	rules, err := Compile(spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	doc := document.New(document.Source{
		URL: "https://x.example/", Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<li><b>Emma</b><i>$ 7.50</i>"),
	})
	result, _ := rules.Apply(context.Background(), doc)
	fmt.Println(string(result.Records[0].Fields(nil)))
	// Output: {"title":"Emma","price":7.50}
}
