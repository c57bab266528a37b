package parser

import (
	"strings"
	"testing"
	"time"

	"seine/internal/testing/yamltest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

const (
	richText = `{\rtf1{\info{\title A title}{\author Ada}{\creatim\yr2026\mo1\dy2}}One {\field{\*\fldinst{HYPERLINK "https://example.org/a"}}{\fldrslt link}}.\par}`
	// It has no cross-reference table: PDFium finds the objects without one.
	onePage = "%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>> endobj 2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n" +
		"3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>> endobj\n" +
		"4 0 obj <</Length 62>> stream\nBT /F 12 Tf 9 700 Td (Head) Tj 0 -20 Td (https://example.org/b) Tj ET\nendstream endobj\n" +
		"5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\n6 0 obj <</First 7 0 R/Last 7 0 R>> endobj\n" +
		"7 0 obj <</Title(Head)/Parent 6 0 R/Dest[3 0 R/Fit]>> endobj\ntrailer <</Root 1 0 R>>\n"
)

func TestFilesAreReadAsPages(t *testing.T) {
	const fields = "page: {emit: always, fields: [title, author, published, text, markdown, headings, links, pages, no_text]}\n"
	for _, test := range []struct{ name, spec, contentType, body, records, follow string }{
		{"rtf", fields, "application/rtf", richText,
			`{"title":"A title","author":"Ada","published":"2026-01-02","text":"One link.","markdown":"One [link](https://example.org/a).\n","headings":[],"links":[{"url":"https://example.org/a","kind":"anchor","text":"link"}],"pages":0,"no_text":""}`,
			"https://example.org/a"},
		{"pdf", fields, "application/pdf", onePage,
			`{"title":"Head","author":"","published":"","text":"Head\nhttps://example.org/b","markdown":"# Head\n\n[https://example.org/b](https://example.org/b)\n","headings":[{"level":1,"text":"Head","page":1}],"links":[{"url":"https://example.org/b","kind":"anchor","text":"https://example.org/b","page":1}],"pages":1,"no_text":""}`,
			"https://example.org/b"},
		{"damaged", fields, "application/pdf", "%PDF-1.7",
			`{"title":"","author":"","published":"","text":"","markdown":"","headings":[],"links":[],"pages":0,"no_text":"damaged"}`, ""},
		{"a rule", "records: [{kind: a, types: [office], fields: {l: a}}]\n", "application/octet-stream", richText,
			`"l":"link"}`, "https://example.org/a"},
		{"the default record", "", "application/pdf", "%PDF-1.7", `,"no_text":"damaged"}`, ""},
	} {
		spec := crawlspec.Default()
		if err := yamltest.Unmarshal([]byte("seeds: [https://example.org/]\n"+test.spec), &spec); err != nil {
			t.Fatal(test.name, err)
		}
		page := &messages.Page{
			V: messages.Version, Crawl: "c", URL: "https://example.org/f", Status: 200, ContentType: test.contentType,
			Header: map[string][]string{"Content-Type": {test.contentType}}, FetchedAt: time.Now(),
		}
		got, err := ParsePage(t.Context(), DefaultConfig(), &spec, page, []byte(test.body))
		if err != nil || len(got.Records) != 1 || len(got.Problems) > 0 {
			t.Errorf("%s: %d records, %v, error %v", test.name, len(got.Records), got.Problems, err)
			continue
		}
		if !strings.HasSuffix(string(got.Records[0]), test.records) {
			t.Errorf("%s:\n%s, want\n%s", test.name, got.Records[0], test.records)
		}
		var follow []string
		for _, l := range got.Links {
			follow = append(follow, l.URL)
		}
		if strings.Join(follow, " ") != test.follow {
			t.Errorf("%s: follows %q, want %q", test.name, follow, test.follow)
		}
	}
}
