package parser

import (
	"maps"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// seedPage returns a page of a seed.
func seedPage(m messages.Metadata, inherit bool) *messages.Page {
	pg := page("text/html")
	pg.Metadata, pg.Inherit = m, inherit
	return pg
}

// Records of a seed have its metadata, whatever makes them. Records of other pages have no such
// field.
func TestMetadataIsInRecords(t *testing.T) {
	const body = "<h1>x</h1>"
	m := messages.Metadata{"customer": "17", "b": "\"é\n"}
	const encoded = `"metadata":{"b":"\"é\n","customer":"17"}`
	for name, tt := range map[string]struct{ spec, want string }{
		"of the page":             {"", encoded + `}`},
		"of fields":               {"page: {fields: [url, metadata, title]}", encoded + `,"title"`},
		"of a rule":               {"records: [{kind: a, key: \"{t}\", fields: {t: h1}}]", `"key":"x",` + encoded + `,"t":"x"}`},
		"with its own field":      {"records: [{kind: a, fields: {metadata: h1}}]", `"visit":"` + page("").Visit.String() + `","run":0,"metadata":"x"}`},
		"its own finds nothing":   {"records: [{kind: a, fields: {t: h1, metadata: h2}}]", `"visit":"` + page("").Visit.String() + `","run":0,"t":"x"}`},
		"masked":                  {"mask: {fields: [metadata]}", encoded + `}`},
		"masked, of a rule":       {"mask: {fields: ['*'], kinds: [email]}\nrecords: [{kind: a, fields: {t: h1}}]", encoded + `,"t":"x"}`},
		"not in fields asked for": {"page: {fields: [url]}", `{"url":"` + pageURL + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := parserOf(t, tt.spec)
			if got := p.lines(t, seedPage(m, true), body); len(got) != 1 || !strings.Contains(got[0], tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if got := p.lines(t, page("text/html"), body); !strings.Contains(tt.spec, "metadata") && strings.Contains(got[0], "metadata") {
				t.Errorf("a page without: %s", got)
			}
		})
	}
}

// Personal data is masked in metadata as in other fields.
func TestMetadataIsMasked(t *testing.T) {
	m := messages.Metadata{"contact": "me@a.test", "customer": "17"}
	for name, spec := range map[string]string{
		"the page": "mask: {fields: ['*']}", "its fields": "mask: {fields: [metadata]}\npage: {fields: [url, metadata]}",
		"a rule": "mask: {fields: [metadata]}\nrecords: [{kind: a, fields: {t: h1}}]",
	} {
		got := parserOf(t, spec).lines(t, seedPage(m, false), "<h1>x</h1>")
		if len(got) != 1 || !strings.Contains(got[0], `"metadata":{"contact":"[email]","customer":"17"}`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Links get the metadata of their page only with inherit.
func TestMetadataIsInheritedByLinks(t *testing.T) {
	m := messages.Metadata{"customer": "17"}
	for _, inherit := range []bool{false, true} {
		p := newParser(t, nil)
		got := p.parsed(t, seedPage(m, inherit), []byte(`<a href="/dir/next.html">n</a><a href="/dir/other.html">o</a>`))
		want := messages.Metadata(nil)
		if inherit {
			want = m
		}
		if c := got.last; len(c.URLs) != 2 || !maps.Equal(c.Metadata, want) || c.Inherit != inherit {
			t.Errorf("inherited %v: %+v", inherit, c)
		}
		if c := p.parsed(t, seedPage(m, inherit), nil).last; c.Metadata != nil {
			t.Errorf("no links, and %+v", c)
		}
	}
}

// An extractor's own metadata field takes precedence.
func TestMetadataOfExtractorsIsTheirOwn(t *testing.T) {
	p := newParser(t, nil)
	r := &parsedPage{page: seedPage(messages.Metadata{"customer": "17"}, false), plan: p.plans.Get("c", new(crawlspec.Default()))}
	for fields, want := range map[string]string{`metadata`: `"metadata":"own"}`, `t`: `"metadata":{"customer":"17"},"t":"own"}`} {
		rec, err := r.encode(&ExtractRecord{Kind: "a", Fields: map[string]string{fields: "own"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(rec.append(nil, r.envelope())); !strings.HasSuffix(got, want) || strings.Count(got, `"metadata"`) != 1 {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
