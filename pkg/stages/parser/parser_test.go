package parser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"seine/internal/testing/natstest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	partitions = 16
	pageURL    = "https://site.test/dir/page.html"
)

func newParser(t *testing.T, change func(*crawlspec.Spec)) *Parser {
	t.Helper()
	s := natstest.Start(t, natstest.Options(t))
	bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	if err := bus.Provision(t.Context(), partitions, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	specs, err := stages.OpenSpecs(t.Context(), bus)
	if err != nil {
		t.Fatal(err)
	}
	spec := crawlspec.Default()
	if change != nil {
		change(&spec)
	}
	if _, err := specs.Put(t.Context(), "c", &spec); err != nil {
		t.Fatal(err)
	}
	p, err := New(DefaultConfig(), bus, specs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.unzip.Close)
	return p
}

func page(contentType string) *messages.Page {
	return &messages.Page{
		Crawl: "c", URL: pageURL, Visit: messages.Visit{URL: messages.HashURL(pageURL), Round: 1}, Attempt: 1,
		Depth: 2, Referrer: "https://site.test/", Status: 200, ContentType: contentType, FetchedAt: time.Unix(1_800_000_000, 0).UTC(),
	}
}

func message(pg *messages.Page, body []byte) *stages.Message {
	pg.BodySize = int64(len(body))
	m := pg.Msg(messages.Partition(pg.URL, partitions), body)
	return &stages.Message{Subject: m.Subject, Header: m.Header, Data: m.Data, Deliveries: 1}
}

// parsed is the output of a page.
type parsed struct {
	record messages.Record
	links  []string
	depths map[string]int       // of the links
	last   *messages.Candidates // the message that ends the visit
	then   bool                 // it is sent after the others
}

func (p *Parser) parsed(t *testing.T, pg *messages.Page, body []byte) parsed {
	t.Helper()
	out, err := p.Handle(t.Context(), message(pg, body))
	if err != nil {
		t.Fatal(err)
	}
	got := decodeOutput(t, out)
	if out.Done != nil {
		out.Done()
	}
	return got
}

func decodeOutput(t *testing.T, out stages.Output) (got parsed) {
	t.Helper()
	got.depths = make(map[string]int)
	for i, m := range out.Messages() {
		if strings.HasPrefix(m.Subject, "seine.records.") {
			if err := messages.CheckRecord(m.Header, m.Data); err != nil {
				t.Error(err)
			}
			if err := json.Unmarshal(m.Data, &got.record); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if strings.HasPrefix(m.Subject, "seine.dead.") {
			continue
		}
		c, err := messages.DecodeCandidates(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range c.URLs {
			if want := messages.SubjectURLs(messages.SourceLink, "c", messages.Partition(u.URL, partitions)); m.Subject != want {
				t.Errorf("%s went to %s, want %s", u.URL, m.Subject, want)
			}
			got.links = append(got.links, u.URL)
			got.depths[u.URL] = c.Depth
		}
		if !c.Ends.IsZero() {
			got.last, got.then = c, i >= len(out.First)
		}
	}
	slices.Sort(got.links)
	return got
}

func TestPageBecomesARecordAndLinks(t *testing.T) {
	p := newParser(t, nil)
	got := p.parsed(t, page("text/html; charset=utf-8"), []byte(`<html lang=en><head><title>A &amp; B</title>
		<meta name=description content="What it is about"><link rel=canonical href="/dir/page.html"></head>
		<body><p>Some <b>text</b></p><a href="next.html#part">n</a> <a href="https://elsewhere.test/x">x</a></body></html>`))
	r := got.record
	if r.Title != "A & B" || r.Description != "What it is about" || r.Language != "en" || !strings.Contains(r.Text, "Some text") {
		t.Errorf("record %+v", r)
	}
	if r.URL != pageURL || r.Canonical != pageURL || r.Depth != 2 || r.Status != 200 || r.Referrer != "https://site.test/" {
		t.Errorf("record %+v", r)
	}
	if want := []string{"https://elsewhere.test/x", "https://site.test/dir/next.html"}; !slices.Equal(got.links, want) {
		t.Errorf("links %q, want %q", got.links, want)
	}
	if c := got.last; c == nil || c.Depth != 3 || c.Referrer != pageURL || c.Ends != page("").Visit {
		t.Errorf("the visit ends with %+v", c)
	}
	if !got.then {
		t.Error("the end of the visit does not wait for the links of other partitions")
	}
}

func TestLinksAreSentOnceUnlessNearer(t *testing.T) {
	p := newParser(t, nil)
	body := []byte(`<a href="/menu">m</a>`)
	if got := p.parsed(t, page("text/html"), body); len(got.links) != 1 {
		t.Fatalf("links %q, want one", got.links)
	}
	if got := p.parsed(t, page("text/html"), body); len(got.links) != 0 || got.last == nil {
		t.Errorf("links %q, want none, and the end of the visit all the same", got.links)
	}
	near := page("text/html")
	near.Depth = 0
	if got := p.parsed(t, near, body); len(got.links) != 1 {
		t.Errorf("links %q, want the one that is nearer now", got.links)
	}
	// Links are not remembered until the page is acknowledged.
	fresh := []byte(`<a href="/fresh">m</a>`)
	if _, err := p.Handle(t.Context(), message(page("text/html"), fresh)); err != nil {
		t.Fatal(err)
	}
	if got := p.parsed(t, page("text/html"), fresh); len(got.links) != 1 {
		t.Errorf("links %q, want the one that never got through", got.links)
	}
}

func TestNoFollowIsObeyedUnlessRobotsAreIgnored(t *testing.T) {
	marked := []byte(`<a rel=nofollow href="/a">a</a><a href="/b">b</a>`)
	whole := []byte(`<meta name=robots content="nofollow, noindex"><a href="/c">c</a>`)
	obeying := newParser(t, nil)
	if got := obeying.parsed(t, page("text/html"), marked); !slices.Equal(got.links, []string{"https://site.test/b"}) {
		t.Errorf("links %q, want only b", got.links)
	}
	if got := obeying.parsed(t, page("text/html"), whole); len(got.links) != 0 || !got.record.NoIndex {
		t.Errorf("links %q, noindex %t; want none, true", got.links, got.record.NoIndex)
	}
	ignoring := newParser(t, func(s *crawlspec.Spec) { s.Robots = crawlspec.RobotsIgnore })
	if got := ignoring.parsed(t, page("text/html"), append(marked, whole...)); len(got.links) != 3 {
		t.Errorf("links %q, want all three", got.links)
	}
}

func TestHeaderDirectivesCountAsThoseOfThePage(t *testing.T) {
	parsers := map[crawlspec.Robots]*Parser{
		crawlspec.RobotsObey:   newParser(t, nil),
		crawlspec.RobotsIgnore: newParser(t, func(s *crawlspec.Spec) { s.Robots = crawlspec.RobotsIgnore }),
	}
	linked := []byte(`<a href="/a">a</a>`)
	tests := []struct {
		rule        string
		spec        crawlspec.Robots
		field       string
		values      []string
		contentType string
		links       int
		noIndex     bool
	}{
		{"without the field", "obey", "Server", []string{"noindex"}, "text/html", 1, false},
		{"nofollow", "obey", "X-Robots-Tag", []string{"nofollow"}, "text/html", 0, false},
		{"noindex", "obey", "X-Robots-Tag", []string{"noindex"}, "text/html", 1, true},
		{"in any case", "obey", "x-robots-tag", []string{"None"}, "text/html", 0, true},
		{"for this crawler", "obey", "X-Robots-Tag", []string{"Seine: nofollow"}, "text/html", 0, false},
		{"for another crawler", "obey", "X-Robots-Tag", []string{"otherbot: noindex, nofollow"}, "text/html", 1, false},
		{"in several fields", "obey", "X-Robots-Tag", []string{"otherbot: nofollow", "noindex"}, "text/html", 1, true},
		{"unavailable before the fetch", "obey", "X-Robots-Tag", []string{"unavailable_after: 2027-01-15"}, "text/html", 1, true},
		{"unavailable after the fetch", "obey", "X-Robots-Tag", []string{"unavailable_after: 2027-01-16"}, "text/html", 1, false},
		{"on a type that is not read", "obey", "X-Robots-Tag", []string{"noindex"}, "application/pdf", 0, true},
		{"robots ignored", "ignore", "X-Robots-Tag", []string{"none"}, "text/html", 1, true},
	}
	for i, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			pg := page(tt.contentType)
			pg.Header = map[string][]string{tt.field: tt.values}
			pg.Run = int64(i) // a run in which the link was not sent yet
			body := linked
			if tt.contentType == "application/pdf" {
				body = []byte("%PDF-1.7 " + string(linked))
			}
			got := parsers[tt.spec].parsed(t, pg, body)
			if len(got.links) != tt.links || got.record.NoIndex != tt.noIndex {
				t.Errorf("%d links, noindex %t; want %d, %t", len(got.links), got.record.NoIndex, tt.links, tt.noIndex)
			}
		})
	}
}

func TestOtherTypes(t *testing.T) {
	p := newParser(t, nil)
	if got := p.parsed(t, page("text/plain; charset=iso-8859-1"), []byte("caf\xe9")); got.record.Text != "café" {
		t.Errorf("plain text %q", got.record.Text)
	}
	if got := p.parsed(t, page("image/png"), []byte("\x89PNG")); got.record.Text != "" || got.last == nil {
		t.Errorf("an image gave %+v", got)
	}
	if got := p.parsed(t, page(""), []byte("<!doctype html><title>sniffed</title>")); got.record.Title != "sniffed" {
		t.Errorf("an undeclared page has title %q", got.record.Title)
	}
}

func TestBodyComesCompressedOrFromTheObjectStore(t *testing.T) {
	p := newParser(t, nil)
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("<title>large</title>" + strings.Repeat("<p>text ", 10_000))
	small := z.EncodeAll(body, nil)
	pg := page("text/html")
	pg.BodyEncoding = messages.BodyZstd
	if got := p.parsed(t, pg, small); got.record.Title != "large" {
		t.Errorf("title %q of a compressed body", got.record.Title)
	}
	bodies, err := p.bus.LargeBodies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := bodies.Put(t.Context(), "1/x", bytes.NewReader(small)); err != nil {
		t.Fatal(err)
	}
	pg.BodyObject = "1/x"
	if got := p.parsed(t, pg, nil); got.record.Title != "large" {
		t.Errorf("title %q of a body in the object store", got.record.Title)
	}
}

// A fetcher with an in-process parser passes the decoded body, which is not decoded again.
// Extractors get a copy that they may keep.
func TestBodyOfAChain(t *testing.T) {
	pg := page("text/html")
	pg.BodyEncoding = messages.BodyZstd
	var kept []byte
	for name, p := range map[string]*Parser{"links and text": newParser(t, nil), "extractor": newParser(t, nil)} {
		if name == "extractor" {
			p.extractors = []Extractor{keeper{&kept}}
		}
		m := message(pg, []byte("not zstd"))
		m.Body = []byte("<title>handed on</title>")
		out, err := p.parse(t.Context(), pg, m)
		if err != nil {
			t.Fatal(err)
		}
		clear(m.Body)
		if got := decodeOutput(t, out); got.record.Title != "handed on" {
			t.Errorf("%s: title %q", name, got.record.Title)
		}
	}
	if string(kept) != "<title>handed on</title>" {
		t.Errorf("the extractor has %q later", kept)
	}
}

// keeper keeps the body of a document.
type keeper struct{ body *[]byte }

func (keeper) Matches(*Document) bool { return true }

func (k keeper) Extract(_ context.Context, d *Document) (*Extract, error) {
	*k.body = d.Body
	return &Extract{Title: "handed on"}, nil
}

func TestRecordFitsAMessageWhateverItsText(t *testing.T) {
	p := newParser(t, nil)
	got := p.parsed(t, page("text/plain; charset=utf-8"), []byte(strings.Repeat("\x01\"\\", 1<<18)))
	if n := len(got.record.Text); n == 0 || n > int(p.cfg.MaxText) {
		t.Errorf("text of %d bytes", n)
	}
}

func TestManyLinksAreSplit(t *testing.T) {
	p := newParser(t, nil)
	var b strings.Builder
	for i := range messages.MaxBatchURLs*2 + 5 {
		fmt.Fprintf(&b, `<a href="/%d">`, i)
	}
	if got := p.parsed(t, page("text/html"), []byte(b.String())); len(got.links) != messages.MaxBatchURLs*2+5 || !got.then {
		t.Errorf("%d links, last after the others %t", len(got.links), got.then)
	}
}

// Where the frontier stores the links of a page, it gets all of them, and which they are.
func TestLinksThatAreKeptAreAllSent(t *testing.T) {
	scheduled := func(s *crawlspec.Spec) { s.Schedule = "@every 1h" }
	body := []byte(`<a href="/menu">m</a> <a href="https://elsewhere.test/x">x</a>`)
	for _, c := range []struct {
		name   string
		change func(*crawlspec.Spec)
		header string
		kept   bool
	}{
		{"etag", scheduled, "Etag", true}, {"date", scheduled, "Last-Modified", true},
		{"no validator", scheduled, "Date", false}, {"no schedule", nil, "Etag", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParser(t, c.change)
			for range 2 {
				pg := page("text/html")
				pg.Visit.Round, pg.Header = 7, map[string][]string{c.header: {"x"}}
				got := p.parsed(t, pg, body)
				if c.kept && (len(got.links) != 2 || got.last.PageRound != 7 || got.last.PageDepth != 2) || !c.kept && got.last.PageRound != 0 {
					t.Errorf("links %q; the visit ends with %+v", got.links, got.last)
				}
			}
			if got := p.parsed(t, page("text/html"), body); len(got.links) != 0 {
				t.Errorf("links %q of a page that is not kept", got.links)
			}
		})
	}
}

// The messages of a page to one partition are numbered.
func TestPartsOfAPageAreNumbered(t *testing.T) {
	p := newParser(t, func(s *crawlspec.Spec) { s.Schedule = "@every 1h" })
	var b strings.Builder
	for i := range messages.MaxBatchURLs + 5 {
		fmt.Fprintf(&b, `<a href="/%d"><a href="https://elsewhere.test/%d">`, i, i)
	}
	pg := page("text/html")
	pg.Header = map[string][]string{"Etag": {"x"}}
	out, err := p.Handle(t.Context(), message(pg, []byte(b.String())))
	if err != nil {
		t.Fatal(err)
	}
	parts := make(map[string][]int)
	for _, m := range out.Messages() {
		if c, err := messages.DecodeCandidates(m.Data); err == nil && strings.HasPrefix(m.Subject, "seine.urls.") {
			parts[m.Subject] = append(parts[m.Subject], c.PagePart)
		}
	}
	if len(parts) != 2 {
		t.Errorf("messages to %d partitions, want 2", len(parts))
	}
	for subject, got := range parts {
		if !slices.Equal(got, []int{0, 1}) {
			t.Errorf("parts %v on %s", got, subject)
		}
	}
}

func TestWhatCannotBeParsedEndsItsVisit(t *testing.T) {
	p := newParser(t, nil)
	pg := page("text/html")
	pg.BodyEncoding = messages.BodyZstd
	m := message(pg, []byte("not zstd"))
	_, err := p.Handle(context.Background(), m)
	if !stages.IsPoison(err) {
		t.Fatalf("handled with %v, want poison", err)
	}
	got := decodeOutput(t, p.onDeadLetter(m, err))
	if got.last == nil || got.last.Ends != pg.Visit || !strings.Contains(got.last.ParseError, "decompress") {
		t.Errorf("what goes with the dead letter is %+v", got.last)
	}
	if _, err := p.Handle(context.Background(), &stages.Message{Header: nats.Header{}}); err == nil {
		t.Error("a message without a page header was handled")
	}
}

func TestRunIsHandedOn(t *testing.T) {
	p := newParser(t, nil)
	body := []byte(`<a href="/a">a</a> <a href="/b">b</a>`)
	for _, step := range []struct {
		run   int64
		depth int
		links int
	}{
		{0, 2, 2},
		{0, 2, 0}, // sent before
		{1, 2, 2}, // but not in this run
		{1, 3, 0},
		{2, 2, 2},
		{1, 2, 2}, // a late page of an earlier run: the remembered links are discarded
	} {
		pg := page("text/html")
		pg.Run, pg.Depth = step.run, step.depth
		m := message(pg, body)
		out, err := p.Handle(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		out.Done()
		got := decodeOutput(t, out)
		if len(got.links) != step.links || got.last.Run != step.run {
			t.Errorf("run %d at depth %d: links %q, run %d", step.run, step.depth, got.links, got.last.Run)
		}
		if end := decodeOutput(t, p.onDeadLetter(m, errors.New("given up"))); end.last.Run != step.run || end.last.ParseError == "" {
			t.Errorf("run %d ends as %+v", step.run, end.last)
		}
	}
}

func TestLinkCacheTellsRunsAndCrawlsApart(t *testing.T) {
	c := newLinkCache()
	const u = "https://site.test/a"
	c.add(origin{"c", 3}, []discoveredLink{{messages.Candidate{URL: u}, 5}})
	for _, tt := range []struct {
		from  origin
		depth int
		want  bool
	}{
		{origin{"c", 3}, 5, true},
		{origin{"c", 3}, 6, true},
		{origin{"c", 3}, 4, false},
		{origin{"c", 2}, 5, false},
		{origin{"c", 4}, 5, false},
		{origin{"d", 3}, 5, false},
	} {
		if c.has(tt.from, u, tt.depth) != tt.want {
			t.Errorf("%+v at depth %d: %t", tt.from, tt.depth, !tt.want)
		}
	}
}
