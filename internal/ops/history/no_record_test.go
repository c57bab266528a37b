package history

import (
	"slices"
	"strings"
	"testing"

	"seine/internal/run/specfile"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// For each rule without a record of a page, the reason is reported.
func TestWhyNoRecord(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		`{kind: product, match: "/p/*", fields: {name: h1}}`:                    `records[0] (product): the URL does not match its pattern "/p/*"`,
		`{kind: product, match: ["/p/*", "/q/*"], fields: {name: h1}}`:          "records[0] (product): the URL matches none of its 2 patterns",
		`{kind: product, when: .sale, fields: {name: h1}}`:                      "records[0] (product): its condition (when) does not hold",
		`{kind: product, fields: {name: h2}}`:                                   "records[0] (product): its selectors find nothing",
		`{kind: product, types: json, fields: {name: {jq: .name}}}`:             "records[0] (product): it reads json, and this is html",
		`{kind: product, fields: {name: {css: h2, required: true}, title: h1}}`: `records[0] (product): `,
		`{kind: product, fields: {name: h1}}`:                                   "",
	} {
		spec, err := specfile.Load("spec.yaml", []byte("records: ["+rule+"]"))
		if err != nil {
			t.Fatal(err)
		}
		f := &finder{ctx: t.Context(), page: &messages.Page{URL: "https://shop.test/a", ContentType: "text/html", Status: 200}}
		got, err := whyNoRecord(f, spec, []byte("<title>T</title><h1>Name</h1>"))
		if text := strings.Join(got, "; "); err != nil || !strings.HasPrefix(text, want) || want == "" && text != "" {
			t.Errorf("%s: %q, %v, want %q", rule, text, err, want)
		}
		h := History{Crawl: "c", Asked: "https://shop.test/a", NoRecord: got, Searches: []Search{{Stream: messages.StreamRecords}}, Explanation: frontierapi.Explanation{Known: true, URL: "https://shop.test/a"}}
		h.Explanation.History = []frontierapi.Attempt{{Class: messages.OK}}
		if text := written(t, &h); strings.Contains(text, "--within") || strings.Contains(text, "RECORDS") == (want != "") {
			t.Errorf("%s: written as %s", rule, text)
		}
	}
}

// Of several files with a record each, only the record's file is listed.
func TestOwnFiles(t *testing.T) {
	t.Parallel()
	f := &finder{}
	f.Crawl, f.URL = "c", "https://a.test/p/1"
	r := &Record{Kind: "page"}
	r.ID = "c.x.1"
	hash := messages.HashURL(f.URL).String()
	for _, c := range []struct{ files, want string }{
		{"part-1.jsonl", "part-1.jsonl"},
		{"a.test/p/1.md a.test/p/2.md b.test/p/1.md a.test/p/11.md", "a.test/p/1.md"},
		{"c/a.test/" + hash + ".html c/a.test/0.html", "c/a.test/" + hash + ".html"},
		{"x.json y.json", "x.json y.json"},
	} {
		if got := f.ownFiles(r, strings.Fields(c.files)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %s", c.files, got, c.want)
		}
	}
}

// Alternative forms of a URL are looked up.
func TestVariants(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://a.test/Guide/3":   "http://a.test/guide/3",
		"http://localhost:8080/a": "http://127.0.0.1:8080/a",
		"http://127.0.0.1/a":      "http://localhost/a",
		"https://a.test/a":        "https://a.test/a/",
		"https://a.test/a?b=c":    "https://a.test/a",
		"https://www.a.test/":     "http://a.test/",
	} {
		if got := variants(url); !slices.Contains(got, want) {
			t.Errorf("%s: %v lacks %s", url, got, want)
		}
	}
}
