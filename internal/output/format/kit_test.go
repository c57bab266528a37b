package format

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"seine/internal/output"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// words returns 8 KB of text with the skewed word frequencies of a page.
func words(n int) string {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	var text strings.Builder
	for text.Len() < 7600 {
		w := int(r.ExpFloat64() * 300)
		fmt.Fprintf(&text, "%s%s ", syllables[w%len(syllables)], syllables[w/len(syllables)%len(syllables)])
	}
	return text.String()
}

var syllables = strings.Fields("the of and to in is ser ver tion ment able ing pre con der ter sta lo ri na mo ke po li du fa gen his kla wer")

// page returns the record of a page of about 8 KB.
func page(n int) *messages.Record {
	return &messages.Record{
		URL: fmt.Sprintf("https://site%d.example/page/%d", n%100, n), Status: 200, ContentType: "text/html; charset=utf-8",
		Title: fmt.Sprintf("Page %d of \"many\"", n), Language: "en", Charset: "utf-8", Text: words(n) + "\nand a line",
		FetchedAt: time.Date(2026, 11, 21, 1, 2, 3, n*1000, time.UTC), Depth: n % 7, Crawl: "bench",
		Referrer: "https://site.example/", Visit: messages.Visit{URL: messages.HashURL(fmt.Sprint(n)), Round: 1},
	}
}

// pages returns the records of n pages, and their lines.
func pages(n int) ([]*messages.Record, []*Record) {
	made.Lock()
	defer made.Unlock()
	for i := len(made.pages); i < n; i++ {
		p := page(i)
		made.pages, made.lines = append(made.pages, p), append(made.lines, &Record{Data: p.Encode()})
	}
	return made.pages[:n], made.lines[:n:n]
}

// made are the pages generated so far.
var made struct {
	sync.Mutex
	pages []*messages.Record
	lines []*Record
}

// group is a group of pages.
var group = output.Group{Crawl: "bench", Kind: messages.KindPage, Dir: "bench/page"}

// with returns options with these columns for every kind.
func with(columns []Column) Options {
	return Options{Columns: func(string, string) ([]Column, error) { return columns, nil }}
}

// ofPages returns the options for records of pages.
func ofPages() Options {
	spec := crawlspec.Default()
	return with(ColumnsOf(&spec, messages.KindPage))
}

func newFormat(t testing.TB, name string, o Options) Format {
	t.Helper()
	f, ok := New(name, o)
	if !ok {
		t.Fatalf("there is no format %s", name)
	}
	return f
}

// encode returns a chunk of records.
func encode(t testing.TB, f Format, records ...*Record) []byte {
	t.Helper()
	var out bytes.Buffer
	e, err := f.NewEncoder(&out, group)
	fatal(t, err)
	for _, r := range records {
		fatal(t, e.Append(r))
	}
	fatal(t, e.Close())
	return out.Bytes()
}

// linesOf returns records with these lines.
func linesOf(lines ...string) []*Record {
	var all []*Record
	for _, l := range lines {
		all = append(all, &Record{Data: []byte(l)})
	}
	return all
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
