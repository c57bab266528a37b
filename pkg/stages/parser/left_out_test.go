package parser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"seine/pkg/messages"
)

const (
	inEnglish = "This is the page that we have about the things which are in the house, and it is what you would read if you were there."
	inGerman  = "Das ist die Seite, die wir über die Dinge haben, die in dem Haus sind, und man würde sie lesen, wenn man nicht woanders wäre."
)

// A page in a language that the spec excludes has no record, and the reason is reported.
func TestPageInAnotherLanguageIsLeftOut(t *testing.T) {
	const (
		pages = "page: {when: {language: en}, fields: [url]}"
		rules = "page: {emit: never}\nrecords: [{kind: a, when: {language: [de, fr]}, fields: {t: {css: p}}}]"
		text  = "page: {when: {text_language: [en]}, fields: [url]}"
		other = "page: {when: {css: b}, fields: [url]}"
		both  = "page: {emit: always, when: {language: en}, fields: [url]}\nrecords: [{kind: a, fields: {t: {css: p}}}]"
	)
	for _, tt := range []struct {
		spec, lang, text string
		records          int
		leftOut          string
	}{
		{pages, "en", inEnglish, 1, ""},
		{pages, "EN_gb", "12", 1, ""},
		{pages, "en", inGerman, 1, ""},
		{pages, "", inEnglish, 1, ""},
		{pages, "", inGerman, 0, "language: page.when: the page is in de, not en"},
		{pages, "eng", "12", 0, "language: page.when: the page is in eng, not en"},
		{pages, "", "12", 0, "language: page.when: the page is in no language that is known, not en"},
		{rules, "de-AT", "12", 1, ""},
		{rules, "en", inGerman, 0, "language: records[0].when: the page is in en, not de or fr"},
		{text, "de", inEnglish, 1, ""},
		{text, "en", inGerman, 0, "text_language: page.when: the text is in de, not en"},
		{other, "en", inEnglish, 0, "condition: page.when: it does not hold"},
		{both, "de", inGerman, 1, ""},
		{"records: [{kind: a, when: {css: b}, fields: {t: {css: p}}}]", "de", inGerman, 0, ""},
	} {
		p := parserOf(t, tt.spec)
		body := `<html lang="` + tt.lang + `"><a href=/next>next</a><p>` + tt.text
		records, dead := p.results(t, page("text/html"), body)
		got := p.parsed(t, page("text/html"), []byte(body))
		if len(records) != tt.records || len(dead) > 0 || got.last.LeftOut != tt.leftOut || len(got.depths) != 1 {
			t.Errorf("%s, %s %.10s: %d records, %d dead letters, left out: %q, links %v; want %d records, left out: %q and a link",
				tt.spec, tt.lang, tt.text, len(records), len(dead), got.last.LeftOut, got.depths, tt.records, tt.leftOut)
		}
		if n := len(got.last.Records); n != tt.records {
			t.Errorf("%s: %d kinds of records are counted, want %d", tt.spec, n, tt.records)
		}
	}
}

// The language and text of a page are judged without its menus, which may be longer and in another
// language.
func TestMenusDoNotCountAsWhatAPageSays(t *testing.T) {
	menu := "<nav><ul>" + strings.Repeat("<li><a href=/x>Über uns und die Dinge, die wir für Sie haben</a>", 100) + "</ul></nav>"
	about := func(what string) string {
		return menu + "<main><h1>" + what + "</h1>" + strings.Repeat("<p>The "+what+" is one of the things that people have in their house.", 3) + "</main>"
	}
	p := parserOf(t, "page: {when: {text_language: en}, fields: [url, duplicate_of]}\nduplicates: {near: mark}")
	for _, what := range []string{"kettle that whistles", "rug from Tabriz", "lamp without a bulb"} {
		pg := page("text/html")
		pg.URL += what[:3]
		pg.Visit.URL, pg.Digest = messages.HashURL(pg.URL), strings.Repeat(fmt.Sprintf("%02x", what[0]), 16)
		if got := p.lines(t, pg, about(what)); len(got) != 1 || !strings.Contains(got[0], `"duplicate_of":""`) {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// A page with noindex, in its markup or in a header, can be left out.
func TestPageThatAsksNotToBeIndexedIsLeftOut(t *testing.T) {
	p := parserOf(t, "page: {when: {noindex: false}, fields: [url]}")
	only := parserOf(t, "page: {when: {noindex: true}, fields: [url]}")
	for _, tt := range []struct {
		header, body string
		noindex      bool
	}{
		{"", "<p>Text", false},
		{"", "<meta name=robots content='noindex, follow'><p>Text", true},
		{"noindex", "<p>Text", true},
		{"otherbot: noindex", "<p>Text", false},
	} {
		pg := page("text/html")
		if tt.header != "" {
			pg.Header = http.Header{"X-Robots-Tag": {tt.header}}
		}
		want := map[bool][2]string{
			false: {"", "condition: page.when: the page may be indexed"}, true: {"condition: page.when: the page asks not to be indexed", ""},
		}[tt.noindex]
		if got := [2]string{p.parsed(t, pg, []byte(tt.body)).last.LeftOut, only.parsed(t, pg, []byte(tt.body)).last.LeftOut}; got != want {
			t.Errorf("%q %q: left out %q, want %q", tt.header, tt.body, got, want)
		}
	}
}

// Pages that are left out do not count as originals of duplicates.
func TestPageThatIsLeftOutHasNoDuplicates(t *testing.T) {
	p := parserOf(t, "page: {when: {language: en}, fields: [url]}\nduplicates: {exact: drop, near: drop}")
	body := "<p>" + strings.Repeat("12 34 56 ", 100)
	for _, tt := range []struct {
		path, language string
		records        int
	}{{"a", "de", 0}, {"b", "en", 1}, {"c", "en", 0}, {"a", "de", 0}} {
		pg := page("text/html")
		pg.URL = "https://site.test/" + tt.path
		pg.Visit.URL = messages.HashURL(pg.URL)
		pg.Header = map[string][]string{"Content-Language": {tt.language}}
		if got := p.lines(t, pg, body); len(got) != tt.records {
			t.Errorf("%s in %s: %d records, want %d", tt.path, tt.language, len(got), tt.records)
		}
	}
}

// A page dropped as a duplicate is reported as left out, with the page that it repeats. A page that
// is marked or unchanged has a record.
func TestDroppedDuplicateIsLeftOut(t *testing.T) {
	sentences := strings.Repeat("The quick brown fox jumps over the lazy dog while nobody looks. ", 20)
	first := messages.Visit{URL: messages.HashURL("https://site.test/a"), Round: 1}.String()
	for spec, want := range map[string][2]string{
		"duplicates: {exact: drop, near: drop}": {"duplicate: repeats the page of visit " + first, "duplicate: nearly repeats the page of visit " + first},
		"duplicates: {exact: mark, near: mark}": {},
		"duplicates: {unchanged: drop}":         {},
		"duplicates: {exact: drop, near: keep}": {"duplicate: repeats the page of visit " + first, ""},
		"duplicates: {near: drop, distance: 0}": {"duplicate: repeats the page of visit " + first, "duplicate: nearly repeats the page of visit " + first},
	} {
		p := parserOf(t, spec)
		visit := func(path, body, digest string) string {
			pg := page("text/html")
			pg.URL = "https://site.test/" + path
			pg.Visit.URL, pg.Digest = messages.HashURL(pg.URL), strings.Repeat(digest, 16)
			return p.parsed(t, pg, []byte(body)).last.LeftOut
		}
		if got := visit("a", sentences, "11"); got != "" {
			t.Errorf("%s: the first page is left out: %s", spec, got)
		}
		if got := [2]string{visit("b", sentences, "11"), visit("c", sentences+"<!-- made at 12:03 -->", "22")}; got != want {
			t.Errorf("%s: left out are %q, want %q", spec, got, want)
		}
	}
}
