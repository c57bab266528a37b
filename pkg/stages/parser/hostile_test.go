package parser

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// endless is an extractor whose result is too large for a message, or that panics.
type endless struct {
	extract Extract
	panics  bool
}

func (endless) Matches(d *Document) bool { return d.MediaType == "application/x-endless" }

func (e endless) Extract(context.Context, *Document) (*Extract, error) {
	if e.panics {
		panic("no such document")
	}
	return &e.extract, nil
}

func TestRecordFitsAMessageWhateverAReaderSays(t *testing.T) {
	long := strings.Repeat(`"a\ `, 400_000)
	defaults, chosen := newParser(t, nil), parserOf(t, "page: {fields: ["+strings.Join(crawlspec.PageFields, ", ")+"]}")
	for name, p := range map[string]*Parser{"default fields": defaults, "all fields": chosen} {
		p.extractors = []Extractor{endless{extract: Extract{Title: long, Description: long, Language: long, Text: long}}}
		for contentType, body := range map[string]string{
			"application/rss+xml":   "<rss><channel><title>" + long + "</title><description>" + long + "</description><language>" + long,
			"application/feed+json": `{"version":"https://jsonfeed.org/version/1.1","language":"` + strings.Repeat("x", 2<<20) + `"}`,
			"application/x-endless": "",
			"text/html":             "<title>" + long + "</title><article><p>" + strings.Repeat(strings.Repeat("\x01", 99)+". ", 9000),
		} {
			got := p.lines(t, page(contentType), body)
			if len(got) != 1 || len(got[0]) > maxRecord {
				t.Errorf("%s, %s: %d records, the first of %d bytes", name, contentType, len(got), len(got[0]))
			}
		}
	}
}

func TestExtractorsRecordThatDoesNotFitAMessageIsTold(t *testing.T) {
	p := newParser(t, nil)
	p.extractors = []Extractor{endless{extract: Extract{
		Records: []ExtractRecord{{Kind: "large", Fields: map[string]string{"x": strings.Repeat("x", 1<<20)}}},
	}}}
	_, err := p.Handle(t.Context(), message(page("application/x-endless"), nil))
	if !stages.IsPoison(err) || !strings.Contains(err.Error(), "record large has 10") {
		t.Errorf("handled with %v", err)
	}
}

func TestPanicOfAnExtractorMakesADeadLetterAndEndsTheVisit(t *testing.T) {
	p := newParser(t, nil)
	p.extractors = []Extractor{endless{panics: true}}
	pg := page("application/x-endless")
	if _, err := p.bus.JS.PublishMsg(t.Context(), pg.Msg(messages.Partition(pg.URL, partitions), nil)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	consumer, err := p.bus.JS.OrderedConsumer(ctx, messages.StreamDead, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	letter, err := consumer.Next()
	if err != nil {
		t.Fatal(err)
	}
	if why := letter.Headers().Get(messages.HeaderDeadReason); !strings.Contains(why, "no such document") {
		t.Errorf("reason %q", why)
	}
	urls, err := p.bus.JS.OrderedConsumer(ctx, messages.StreamURLs, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	last, err := urls.Next()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := messages.DecodeCandidates(last.Data()); err != nil || c.Ends != pg.Visit || c.ParseError == "" {
		t.Errorf("the visit ends with %+v, %v", c, err)
	}
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestMaxTextBoundsTheTextsOfRecordsAlone(t *testing.T) {
	const body = `<title>A title</title><article><p>The quick brown fox jumps over the lazy dog, and nobody looks at it.</article>`
	got := short(t, "page: {fields: [url, title, language, text, main, markdown]}", 0).lines(t, page("text/html"), body)
	want := `{"url":"` + pageURL + `","title":"A title","language":"en","text":"","main":"","markdown":""}`
	if len(got) != 1 || got[0] != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	whole := short(t, "", 1<<10).parsed(t, page("text/html"), []byte(body))
	for limit, text := range map[crawlspec.Bytes]string{0: "", 9: "The quick"} {
		got := short(t, "", limit).parsed(t, page("text/html"), []byte(body))
		if got.record.Text != text || got.record.Title != "A title" {
			t.Errorf("%s: record %+v", limit, got.record)
		}
		if got.last.Content != whole.last.Content || got.last.Content == 0 {
			t.Errorf("%s: pages are told apart by less of their text", limit)
		}
	}
}

func TestDeadLettersOfRecordsAreMaskedAndFitAMessage(t *testing.T) {
	p := parserOf(t, `
mask: {kinds: [email], fields: [mail]}
records:
  - kind: mail
    each: p
    fields: {mail: {css: b}, rest: {css: i}}
    schema: {properties: {mail: {pattern: '^x'}}}
`)
	pg := page("text/html")
	pg.Header = map[string][]string{"X-Long": {strings.Repeat("x", 30<<10)}}
	_, dead := p.results(t, pg, "<p><b>me@site.test</b><i>short</i><p><b>you@site.test</b><i>"+strings.Repeat("x", 1_020_000)+"</i>")
	if len(dead) != 2 {
		t.Fatalf("%d dead letters", len(dead))
	}
	for _, m := range dead {
		if strings.Contains(string(m.Data), "@") || strings.Contains(m.Header.Get(messages.HeaderDeadReason), "@") || len(m.Data) == 0 {
			t.Errorf("%.100s, because %s", m.Data, m.Header.Get(messages.HeaderDeadReason))
		}
	}
	if err := stages.NewPublisher(p.bus, messages.StageParser).Publish(t.Context(), dead...); err != nil {
		t.Error(err)
	}
}

func TestLinkHeadersOfAnyDocumentAreFollowed(t *testing.T) {
	want := []string{"https://site.test/next"}
	for _, tt := range []struct{ spec, contentType, body string }{
		{"links: {follow: [header]}", "application/json", "[1]"},
		{"links: {follow: [header]}", "image/png", "\x89PNG\r\n\x1a\n"},
		{"links: {follow: [header]}\npage: {fields: [links]}", "text/html", `<img src="/next"><a href="/next" rel=nofollow>n</a>`},
		{"links: {follow: [header, anchor]}", "text/html", `<a href="/next">n</a>`},
	} {
		pg := page(tt.contentType)
		pg.Header = map[string][]string{"Link": {`</next>; rel="next"`}}
		m := message(pg, []byte(tt.body))
		p := parserOf(t, tt.spec)
		out, err := p.Handle(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range out.Messages() {
			if c, err := messages.DecodeCandidates(m.Data); err == nil {
				for _, u := range c.URLs {
					got = append(got, u.URL)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s %s: links %q, want %q", tt.contentType, tt.body, got, want)
		}
		pg.Header["X-Robots-Tag"] = []string{"nofollow"}
		out, err = p.Handle(t.Context(), message(pg, []byte(tt.body)))
		if err != nil {
			t.Fatal(err)
		}
		if c, err := messages.DecodeCandidates(out.First[0].Data); err != nil || len(c.URLs) != 0 {
			t.Errorf("%s: followed against X-Robots-Tag: %+v, %v", tt.contentType, c, err)
		}
	}
}

func TestLanguageOfTheHeaderCountsWhereThePageHasNone(t *testing.T) {
	p := newParser(t, nil)
	for _, tt := range []struct{ body, want string }{{"<p>x", "fr"}, {"<html lang=de><p>x", "de"}} {
		for value, want := range map[string]string{" fr ": tt.want, "fr, en": strings.TrimPrefix(tt.want, "fr"), strings.Repeat("f", 99): strings.TrimPrefix(tt.want, "fr")} {
			pg := page("text/html")
			pg.Header = map[string][]string{"Content-Language": {value}}
			if got := p.parsed(t, pg, []byte(tt.body)).record.Language; got != want {
				t.Errorf("%s with %q: %q, want %q", tt.body, value, got, want)
			}
		}
	}
}

func TestParserThatIsEndedLeavesRulesThatWouldNotEnd(t *testing.T) {
	p := parserOf(t, `records: [{kind: a, fields: {t: {jq: "last(repeat(1))"}}}]`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Handle(ctx, message(page("application/json"), []byte("1")))
	if !errors.Is(err, context.Canceled) || stages.IsPoison(err) {
		t.Errorf("handled with %v", err)
	}
}

func TestPageThatBecomesTooMuchIsParsedWithoutRules(t *testing.T) {
	p := parserOf(t, `
page: {emit: always, fields: [url, title, text, author, main]}
records: [{kind: own, fields: {t: title}}, {kind: other, fields: {t: {regex: 'x(y)'}}}]
`)
	body := "<title>A title</title><p>"
	for i := range 480 {
		body += "<b id=" + strconv.Itoa(i) + ">"
	}
	body += strings.Repeat("</i>", 480) + strings.Repeat("<p>xy", 12_000)
	records, dead := p.results(t, page("text/html"), body)
	if len(records) != 2 || !strings.Contains(records[0], `"title":"A title","text":"x`) || !strings.Contains(records[1], `"t":"y"`) {
		t.Errorf("records %.200q", records)
	}
	var why []string
	for _, m := range dead {
		why = append(why, m.Header.Get(messages.HeaderDeadReason))
	}
	if len(why) != 2 || !strings.HasPrefix(why[0], "records[0] (own): document is too large for rules: its DOM would take more than 256 MiB") ||
		!strings.HasPrefix(why[1], "page: fields that need its tree are empty: document is too large") {
		t.Errorf("dead letters %q", why)
	}
}
