package parser

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/yamltest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// parserOf returns a parser for a crawl with a spec in YAML.
func parserOf(t *testing.T, text string) *Parser {
	t.Helper()
	return newParser(t, func(s *crawlspec.Spec) {
		*s = crawlspec.Default()
		if text != "" {
			if err := yamltest.Unmarshal([]byte(text), s); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

// lines returns the records of a page, in the order of their identities.
func (p *Parser) lines(t *testing.T, pg *messages.Page, body string) []string {
	t.Helper()
	records, _ := p.results(t, pg, body)
	return records
}

// results returns the records of a page, and the dead letters.
func (p *Parser) results(t *testing.T, pg *messages.Page, body string) (records []string, dead []*nats.Msg) {
	t.Helper()
	m := message(pg, []byte(body))
	m.Stream, m.Sequence = messages.StreamPages, 7
	out, err := p.Handle(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	for _, m := range out.First {
		id := m.Header.Get(nats.MsgIdHdr)
		if strings.HasPrefix(m.Subject, "seine.records.") || strings.HasPrefix(m.Subject, "seine.dead.") {
			if id == "" || ids[id] {
				t.Errorf("identity %q of %s is missing or not its own", id, m.Data)
			}
			ids[id] = true
		}
		switch {
		case strings.HasPrefix(m.Subject, "seine.records."):
			if err := messages.CheckRecord(nats.Header{nats.MsgIdHdr: {id}}, m.Data); err != nil {
				t.Error(err)
			}
			if spec, err := p.specs.Get(t.Context(), pg.Crawl, 0); err != nil || messages.SpecRevision(m.Header) != spec.Rev {
				t.Errorf("%s is of revision %d, the spec %d, %v", m.Data, messages.SpecRevision(m.Header), spec.Rev, err)
			}
			records = append(records, string(m.Data))
		case strings.HasPrefix(m.Subject, "seine.dead."):
			dead = append(dead, m)
		}
	}
	return records, dead
}

const shopSpec = `
records:
  - kind: product
    each: .product
    fields: {name: h2, price: {css: .price, as: number, required: true}}
    schema: {properties: {price: {maximum: 100}}}
follow:
  - {css: a.more, priority: 1, depth: 0}
links: {follow: [anchor]}
`

const shopPage = `<title>Shop</title><div class=product><h2>Pen</h2><b class=price>1.50</b></div>
<div class=product><h2>Gift</h2></div><div class=product><h2>Ring</h2><b class=price>900</b></div>
<a class=more href="?page=2">more</a> <a href="/about">about</a>`

func TestRulesMakeRecordsLinksAndDeadLetters(t *testing.T) {
	p := parserOf(t, shopSpec)
	records, dead := p.results(t, page("text/html"), shopPage)
	want := fmt.Sprintf(`{"kind":"product","url":%q,"fetched_at":"2027-01-15T08:00:00.000000Z","crawl":"c","visit":%q,"run":0,"name":"Pen","price":1.50}`,
		pageURL, page("").Visit)
	if len(records) != 1 || records[0] != want {
		t.Errorf("records %s\nwant %s", records, want)
	}
	reasons := ""
	for _, m := range dead {
		reasons += m.Header.Get(messages.HeaderDeadReason) + "\n"
	}
	if len(dead) != 2 || !strings.Contains(reasons, "records[0] (product), item 2, field price: ") ||
		!strings.Contains(reasons, "records[0] (product), item 3") {
		t.Errorf("%d dead letters:\n%s", len(dead), reasons)
	}
	got := p.parsed(t, page("text/html"), []byte(shopPage))
	if want := map[string]int{"https://site.test/about": 3, "https://site.test/dir/page.html?page=2": 2}; !maps.Equal(got.depths, want) {
		t.Errorf("links with their depths %v, want %v", got.depths, want)
	}
}

func TestPageRecordHasTheFieldsAskedFor(t *testing.T) {
	const body = `<html lang=de><head><title>T</title><meta name=author content="A. Writer"><meta property="og:type" content=article>
		<script type="application/ld+json">{"@type": "Thing", "n": 12345678901234567890}</script></head>
		<body><h1>One</h1><nav><a href="/x" rel="nofollow">an <b>x</b></a></nav><p>Text.</body></html>`
	p := parserOf(t, `page: {fields: [title, status, headings, author, json_ld, open_graph, links, language, media_type, type_mismatch, digest, bytes, fetch_ms, rendered]}`)
	pg := page("text/html")
	pg.Rendered = "the spec wants it"
	pg.Digest, pg.Timings.Total = "abcd", messages.Millis(12*time.Millisecond)
	got := p.lines(t, pg, body)
	want := `{"title":"T","status":200,"headings":[{"level":1,"text":"One"}],"author":"A. Writer",` +
		`"json_ld":[{"@type":"Thing","n":12345678901234567890}],"open_graph":{"og:type":"article"},` +
		`"links":[{"url":"https://site.test/x","kind":"anchor","text":"an x","rel":"nofollow","nofollow":true}],` +
		`"language":"de","media_type":"text/html","type_mismatch":"","digest":"abcd","bytes":` + fmt.Sprint(len(body)) + `,"fetch_ms":12,"rendered":"the spec wants it"}`
	if len(got) != 1 || got[0] != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEveryPageFieldHasAValue(t *testing.T) {
	p := parserOf(t, "page: {fields: ["+strings.Join(crawlspec.PageFields, ", ")+"]}")
	for _, contentType := range []string{"text/html", "image/png", "application/json"} {
		got := p.lines(t, page(contentType), `<p>Text`)
		if len(got) != 1 {
			t.Fatalf("%s: records %s", contentType, got)
		}
		for _, name := range crawlspec.PageFields {
			if !strings.Contains(got[0], `"`+name+`":`) {
				t.Errorf("%s: no %s in %s", contentType, name, got[0])
			}
		}
	}
	if len(pageFields) != len(crawlspec.PageFields) {
		t.Errorf("%d fields have a value, %d are told of", len(pageFields), len(crawlspec.PageFields))
	}
}

func TestRecordOfChosenFieldsFitsAMessage(t *testing.T) {
	p := parserOf(t, `page: {fields: [url, text, main, links]}`)
	var b strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&b, `<a href="/%d/%s">&quot;&quot;\\ %s</a> `, i, strings.Repeat("x", 60), strings.Repeat(`"`, 60))
	}
	got := p.lines(t, page("text/html"), b.String())
	if len(got) != 1 || len(got[0]) > maxRecord || !strings.Contains(got[0], `"truncated":[`) {
		t.Errorf("a record of %d bytes that ends in %s", len(got[0]), got[0][len(got[0])-100:])
	}
}

// short is parserOf with --max-text.
func short(t *testing.T, text string, limit crawlspec.Bytes) *Parser {
	t.Helper()
	p := parserOf(t, text)
	p.cfg.MaxText = limit
	p.plans.Make = func(s *crawlspec.Spec) *parsePlan { return newParsePlan(p.cfg, s, s.Normalizer()) }
	return p
}

// A record lists the texts longer than --max-text. A text of exactly that length is not listed.
func TestRecordSaysWhichTextsAreCut(t *testing.T) {
	const limit = 602 // Markdown ends in a line break
	word := "x" + strings.Repeat(" wörd", 100)
	for _, tt := range []struct{ spec, text, want string }{
		{"", word, `"visit":"` + page("").Visit.String() + `","run":0}`},
		{"", word + "éé", `,"truncated":["text"]}`},
		{"page: {fields: [title, text, main, markdown]}", word, `"markdown":"` + word + `\n"}`},
		{"page: {fields: [title, text, main, markdown]}", word + "éé", `,"truncated":["text","main","markdown"]}`},
	} {
		got := short(t, tt.spec, limit).lines(t, page("text/html"), "<title>"+strings.Repeat("T", 2*limit)+"</title><main><p>"+tt.text+"</main>")
		if len(got) != 1 || !strings.HasSuffix(got[0], tt.want) {
			t.Errorf("%q of %d bytes: %s, want %s at the end", tt.spec, len(tt.text), got, tt.want)
		}
	}
	whole := parserOf(t, "").lines(t, page("text/html"), "<p>"+strings.Repeat("word ", 200_000))
	if len(whole) != 1 || !strings.HasSuffix(whole[0], `,"truncated":["text"]}`) {
		t.Errorf("a text of 1 MB: %d records, the first ends in %s", len(whole), whole[0][len(whole[0])-50:])
	}
}

func TestPersonalDataIsMasked(t *testing.T) {
	const body = `<title>Write to me@site.test</title><p>Mail you@site.test or call.`
	whole := parserOf(t, "mask: {kinds: [email], fields: ['*']}\n")
	got := whole.parsed(t, page("text/html"), []byte(body)).record
	if got.Title != "Write to [email]" || got.Text != "Mail [email] or call." || got.URL != pageURL {
		t.Errorf("record %+v", got)
	}
	every := parserOf(t, "mask: {fields: [title]}\npage: {emit: always, fields: [title, text]}")
	const hosts = `<title>me@site.test at 192.0.2.7</title><p>me@site.test`
	if got := every.lines(t, page("text/html"), hosts); len(got) != 1 || got[0] != `{"title":"[email] at [ip]","text":"me@site.test"}` {
		t.Errorf("without kinds: %s", got)
	}
	some := parserOf(t, "mask: {kinds: [email], fields: [text, mail]}\npage: {emit: always, fields: [title, text]}\n"+
		"records: [{kind: mail, fields: {mail: {css: p}, title: title}}]")
	lines := some.lines(t, page("text/html"), body)
	if len(lines) != 2 || lines[0] != `{"title":"Write to me@site.test","text":"Mail [email] or call."}` ||
		!strings.HasSuffix(lines[1], `"mail":"Mail [email] or call.","title":"Write to me@site.test"}`) {
		t.Errorf("records %s", lines)
	}
}

// The keys of maps from rules or documents are texts of the page and are masked. Two keys that
// become equal stay separate.
func TestNamesOfMapsAreMasked(t *testing.T) {
	const body = `<script type="application/ld+json">{"@type":"x","me@site.test":1,"you@site.test":{"us@site.test":2}}</script>
<dl><dt>you@site.test<dd>Ann<dt>me@site.test<dd>Joe</dl>`
	p := parserOf(t, "mask: {kinds: [email], fields: ['*']}\npage: {emit: always, fields: [json_ld]}\n"+
		"records: [{kind: mail, fields: {people: {css: dt, map: {key: {get: text}, value: {xpath: 'following-sibling::dd[1]'}}}, ld: {json_ld: '.'}}}]")
	lines := strings.Join(p.lines(t, page("text/html"), body), "\n")
	if strings.Contains(lines, "@site.test") || strings.Count(lines, `"[email] (2)"`) < 2 || !strings.Contains(lines, "Ann") || !strings.Contains(lines, "Joe") {
		t.Errorf("records %s", lines)
	}
}

func TestDuplicatesAreMarkedOrDropped(t *testing.T) {
	sentences := strings.Repeat("The quick brown fox jumps over the lazy dog while nobody looks. ", 20)
	visit := func(p *Parser, path, body, digest string) []string {
		pg := page("text/html")
		pg.URL = "https://site.test/" + path
		pg.Visit.URL, pg.Digest = messages.HashURL(pg.URL), digest
		return p.lines(t, pg, body)
	}
	one, two := strings.Repeat("11", 16), strings.Repeat("22", 16)
	marking := parserOf(t, "duplicates: {exact: mark, near: mark}\npage: {fields: [duplicate_of]}")
	first := messages.Visit{URL: messages.HashURL("https://site.test/a"), Round: 1}.String()
	for _, tt := range []struct{ path, body, digest, of string }{
		{"a", sentences, one, ""},
		{"b", sentences, one, first},
		{"c", sentences + "<!-- made at 12:03 -->", two, first},
		{"a", sentences, one, ""},
	} {
		if got := visit(marking, tt.path, tt.body, tt.digest); len(got) != 1 || got[0] != `{"duplicate_of":"`+tt.of+`"}` {
			t.Errorf("%s: %s, want it to repeat %q", tt.path, got, tt.of)
		}
	}
	equal := parserOf(t, "duplicates: {near: mark, distance: 0}\npage: {fields: [duplicate_of]}")
	visit(equal, "a", sentences, one)
	if got := visit(equal, "c", sentences+"<!-- made at 12:03 -->", two); got[0] != `{"duplicate_of":"`+first+`"}` {
		t.Errorf("the same text at a distance of 0: %s", got)
	}
	dropping := parserOf(t, "duplicates: {exact: drop}")
	for _, tt := range []struct {
		path, digest string
		records      int
	}{{"a", one, 1}, {"b", one, 0}, {"c", two, 1}, {"b", one, 0}} {
		if got := visit(dropping, tt.path, sentences, tt.digest); len(got) != tt.records {
			t.Errorf("%s: %d records, want %d", tt.path, len(got), tt.records)
		}
	}
}

// A page that is unchanged since its last visit makes no records if the spec drops them. Its links
// are sent all the same.
func TestUnchangedPageMakesNoRecordsIfDropped(t *testing.T) {
	const drop, body = "duplicates: {unchanged: drop}\n", `<p>one<p>two<a href=/next>next</a>`
	const rules = "page: {emit: always}\nrecords: [{kind: part, each: {css: p}, fields: {text: {get: text}}}, {kind: bad, fields: {x: {css: b, required: true}}}]\n"
	for _, tt := range []struct {
		spec          string
		unchanged     bool
		records, dead int
	}{
		{drop, false, 1, 0}, {drop, true, 0, 0}, {"{}", true, 1, 0},
		{drop + rules, false, 3, 1}, {drop + rules, true, 0, 0}, {rules, true, 3, 1},
	} {
		p, pg := parserOf(t, tt.spec), page("text/html")
		pg.Unchanged = tt.unchanged
		records, dead := p.results(t, pg, body)
		if len(records) != tt.records || len(dead) != tt.dead {
			t.Errorf("%q, unchanged %t: %d records and %d dead letters, want %d and %d", tt.spec, tt.unchanged, len(records), len(dead), tt.records, tt.dead)
		}
		if links := p.parsed(t, pg, []byte(body)).depths; len(links) != 1 {
			t.Errorf("%q, unchanged %t: it leads to %v, want one page", tt.spec, tt.unchanged, links)
		}
	}
}

func TestRulesReadSitemaps(t *testing.T) {
	p := parserOf(t, `sitemaps: true
page: {emit: always}
records:
  - {kind: listed, types: sitemap, each: {jq: ".entries[]"}, fields: {page: {jq: .url}, at: {jq: .modified}, paper: {jq: .news.publication}, images: {jq: ".images[].url", all: true}}}
`)
	const body = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://site.test/a</loc><lastmod>2026-01-02</lastmod>
		<news:news><news:publication><news:name>Post</news:name></news:publication></news:news>
		<image:image><image:loc>https://site.test/1.png</image:loc></image:image></url></urlset>`
	records := p.lines(t, page("application/xml"), body)
	const want = `"page":"https://site.test/a","at":"2026-01-02T00:00:00Z","paper":"Post","images":["https://site.test/1.png"]}`
	if len(records) != 1 || !strings.HasSuffix(records[0], want) {
		t.Errorf("records %s\nwant …%s", records, want)
	}
	if got := p.parsed(t, page("application/xml"), []byte(body)); !slices.Equal(got.links, []string{"https://site.test/a"}) {
		t.Errorf("links %q", got.links)
	}
}

func TestFeedLeadsToItsItems(t *testing.T) {
	p := parserOf(t, "accept: [application/rss+xml]")
	got := p.parsed(t, page("application/rss+xml"), []byte(`<rss version="2.0"><channel><title>News</title><link>/</link>
		<item><title>One</title><link>/1</link></item><item><title>Two</title><link>/2</link></item></channel></rss>`))
	if want := []string{"https://site.test/", "https://site.test/1", "https://site.test/2"}; !slices.Equal(got.links, want) {
		t.Errorf("links %q, want %q", got.links, want)
	}
	if got.record.Title != "News" || got.record.Text != "One\nTwo" {
		t.Errorf("record %+v", got.record)
	}
}

func TestLinkHeadersAreFollowedWhereAskedFor(t *testing.T) {
	p := parserOf(t, "links: {follow: [header], attributes: [data-href]}")
	pg := page("text/html")
	pg.Header = map[string][]string{"Link": {`</next>; rel="next", </style.css>; rel=stylesheet`}}
	got := p.parsed(t, pg, []byte(`<a href="/a">a</a><div data-href="/d">`))
	if want := []string{"https://site.test/d", "https://site.test/next"}; !slices.Equal(got.links, want) {
		t.Errorf("links %q, want %q", got.links, want)
	}
}

func TestSpecThatCannotBeUsedIsTold(t *testing.T) {
	p := parserOf(t, "records: [{kind: a, fields: {x: 'p['}}]")
	_, err := p.Handle(t.Context(), message(page("text/html"), nil))
	if !stages.IsPoison(err) || !strings.Contains(err.Error(), "records[0].fields.x.css") {
		t.Errorf("handled with %v", err)
	}
}

// words is an extractor as a user would write it.
type words struct{ fail error }

func (words) Matches(d *Document) bool { return d.MediaType == "application/x-words" }

func (w words) Extract(_ context.Context, d *Document) (*Extract, error) {
	if w.fail != nil {
		return nil, w.fail
	}
	type count struct {
		Word string `json:"word"`
		N    int    `json:"n"`
	}
	return &Extract{
		Title: "words", Text: string(d.Body), Links: []string{"more", "javascript:no"},
		Records: []ExtractRecord{{Kind: "word", Key: "a", Fields: count{"a@site.test", 1}}},
	}, nil
}

func TestExtractorReadsWhatItMatches(t *testing.T) {
	p := parserOf(t, "mask: {kinds: [email], fields: ['*']}")
	p.extractors = []Extractor{words{}}
	got := p.parsed(t, page("text/html"), []byte("<title>not words</title>"))
	if got.record.Title != "not words" {
		t.Errorf("record %+v", got.record)
	}
	lines := p.lines(t, page("application/x-words"), "one two")
	if len(lines) != 2 || !strings.Contains(lines[0], `"title":"words"`) || !strings.HasSuffix(lines[1], `"key":"a","word":"[email]","n":1}`) {
		t.Errorf("records %s", lines)
	}
	if got := p.parsed(t, page("application/x-words"), []byte("one two")); !slices.Equal(got.links, []string{"https://site.test/dir/more"}) {
		t.Errorf("links %q", got.links)
	}
	p.extractors = []Extractor{words{errors.New("no words")}}
	_, err := p.Handle(t.Context(), message(page("application/x-words"), nil))
	if !stages.IsPoison(err) {
		t.Errorf("an extractor's error was handled as %v", err)
	}
}

func TestExtractorsRecordsAreChecked(t *testing.T) {
	for want, r := range map[string]ExtractRecord{
		`kind "Bad Kind"`:   {Kind: "Bad Kind", Fields: map[string]int{}},
		"not a JSON object": {Kind: "list", Fields: []int{1}},
		`field "url"`:       {Kind: "named", Fields: map[string]int{"url": 1}},
		"unsupported":       {Kind: "chan", Fields: make(chan int)},
	} {
		if _, err := r.members(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A link that contains the secret of a request rule leads to the URL without it.
func TestLinksHaveNoSecretParameter(t *testing.T) {
	p := parserOf(t, "page: {fields: [canonical, links]}\nrequests:\n- match: https://site.test/*\n  query: {api_key: '{secret:K}'}")
	pg := page("text/html")
	pg.Header = map[string][]string{"Link": {`<https://site.test/header?api_key=word>; rel="next"`}}
	m := message(pg, []byte(`<link rel=canonical href="/?api_key=word"><a href="/a?api_key=word&amp;b=1">a</a>`))
	out, err := p.Handle(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Messages() {
		if strings.Contains(string(m.Data), "api_key") {
			t.Errorf("%s: %s", m.Subject, m.Data)
		}
	}
}

// The type is the one that the fetcher found. The header itself may have no type, or several in
// separate fields.
func TestTypeIsWhatTheFetcherFound(t *testing.T) {
	p := parserOf(t, "page: {fields: [title, media_type, charset]}")
	for field, contentType := range map[string]string{
		"; charset=windows-1251": "text/html; charset=windows-1251", "application/x-junk\ntext/html; charset=windows-1251": "application/x-junk, text/html; charset=windows-1251",
	} {
		pg := page(contentType)
		pg.Header = map[string][]string{"Content-Type": strings.Split(field, "\n")}
		const want = `{"title":"мир","media_type":"text/html","charset":"windows-1251"}`
		if got := p.lines(t, pg, "<title>\xec\xe8\xf0</title>"); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %s, want %s", field, got, want)
		}
	}
}

// Refresh headers are followed like the meta element, for documents of any type, as browsers do.
func TestRefreshHeaderIsFollowed(t *testing.T) {
	for contentType, body := range map[string]string{"text/html": "<p>wait", "application/pdf": "%PDF-1.7", "text/plain": ""} {
		for spec, want := range map[string]string{"": `"urls":[{"u":"https://site.test/next?a=1"}]`, "links: {follow: [anchor]}": `"depth":3,"ends"`} {
			p := parserOf(t, spec)
			pg := page(contentType)
			pg.Header = map[string][]string{"Refresh": {"0; url=/next?a=1"}}
			out, err := p.Handle(t.Context(), message(pg, []byte(body)))
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, m := range out.Messages() {
				text += string(m.Data)
			}
			if !strings.Contains(text, want) {
				t.Errorf("%s, %q: %s", contentType, spec, text)
			}
		}
	}
}

// A page without a canonical link has the one of its Link header, and so has a document of another
// type.
func TestCanonicalOfTheHeader(t *testing.T) {
	for body, want := range map[string]string{
		"<p>text": `"canonical":"https://site.test/c"`, "<link rel=canonical href=/own>": `"canonical":"https://site.test/own"`,
	} {
		pg := page("text/html")
		pg.Header = map[string][]string{"Link": {`<https://site.test/n>; rel="next", </c>; rel="shortlink canonical"`}}
		out, err := parserOf(t, "page: {fields: [canonical]}").Handle(t.Context(), message(pg, []byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, m := range out.Messages() {
			found = found || strings.Contains(string(m.Data), want)
		}
		if !found {
			t.Errorf("%s: no %s", body, want)
		}
	}
}
