package sqlsink

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"seine/internal/output/format"
	"seine/pkg/messages"
)

// FuzzRow decodes records as third-party parsers may send them: for any input, databases accept the
// row.
func FuzzRow(f *testing.F) {
	id := "a." + strings.Repeat("0", 32) + ".7"
	for _, s := range [][3]string{
		{id, "page", `{"url":"https://a.example/","fetched_at":"2026-01-01T00:00:00Z","visit":"x","status":200}`},
		{id + ".product.3", "product", `{"key":"k\u0000","url":7}`}, {id + ".2", "result", `{"class":"ok","timings":{"dns_ms":"x"}}`},
		{"", "", ""}, {"a..", "page", "[1]"}, {"a.b.c.d.e", "other", "{\"url\":\"http:\\/\\/\xff\"}"},
	} {
		f.Add(s[0], s[1], []byte(s[2]))
	}
	f.Fuzz(func(t *testing.T, id, kind string, data []byte) {
		for _, from := range []string{FromRecords, FromResults} {
			rec := &format.Record{ID: id, Kind: kind, Stored: time.Unix(0, 0), Data: data}
			r := newRow(from, "a", rec)
			if !json.Valid(r.Data) {
				t.Errorf("the record is no JSON: %q", r.Data)
			}
			if r.Item == (ID{}) && !strings.HasPrefix(id, "a.00000000000000000000000000000000.") {
				t.Error("the row has no identity")
			}
			p, o := r.Page(), r.Outcome()
			for _, s := range []*string{
				&r.URL, &r.Host, &r.Visit, &r.Key, &r.DuplicateOf, p.ContentType, p.Title, p.Description, p.Canonical, p.Language,
				p.Charset, p.Text, p.Referrer, o.Class, o.Error, o.Detail,
			} {
				if s != nil && (!utf8.ValidString(*s) || strings.Contains(*s, "\x00")) {
					t.Errorf("no database takes %q", *s)
				}
			}
		}
	})
}

// A row's item is determined by its record, or otherwise by its identity.
func TestItems(t *testing.T) {
	url := messages.HashURL("https://a.example/")
	visit := url.String() + ".2"
	row := func(id, kind, data string) *Row {
		return newRow(FromRecords, "a", &format.Record{ID: id, Kind: kind, Data: []byte(data)})
	}
	for name, tt := range map[string]struct {
		row   *Row
		table Table
		item  ID
		round int64
	}{
		"page":                  {row("a."+visit, "page", `{"url":"https://a.example/"}`), Pages, ID(url), 2},
		"page without its URL":  {row("a."+visit, "page", `{}`), Pages, ID(url), 2},
		"page of another":       {row("x", "page", `{"url":"https://a.example/","visit":"`+visit+`"}`), Pages, ID(url), 2},
		"page without anything": {row("x", "page", `{}`), Records, hashed("identity", "x"), 0},
		"key":                   {row("a."+visit+".product.0", "product", `{"key":"k"}`), Records, hashed("key", "k"), 2},
		"place":                 {row("a."+visit+".product.5", "product", `{}`), Records, hashed("place", url.String()+".5"), 2},
		"page made again":       {row(messages.InGeneration("a."+visit, "g2"), "page", `{}`), Pages, ID(url), 2},
		"place made again":      {row(messages.InGeneration("a."+visit+".product.5", "g2"), "product", `{}`), Records, hashed("place", url.String()+".5"), 2},
		"record of another":     {row("x", "product", `{"url":"https://a.example/"}`), Records, hashed("identity", "x"), 0},
		"crawl of another":      {row("b."+visit, "page", `{}`), Records, hashed("identity", "b."+visit), 0},
	} {
		if r := tt.row; r.Table != tt.table || r.Item != tt.item || r.Round != tt.round {
			t.Errorf("%s: table %d, item %x, round %d; want %d, %x, %d", name, r.Table, r.Item, r.Round, tt.table, tt.item, tt.round)
		}
	}
}

// Fields whose names differ from those of the envelope only in case are ordinary fields, and so is
// a status that a rule makes.
func TestFieldsAreNotTakenForTheEnvelope(t *testing.T) {
	t.Parallel()
	const id = "a.00000000000000000000000000000001.2.product.0"
	r := newRow(FromRecords, "a", &format.Record{ID: id, Kind: "product", Stored: time.Unix(9, 0), Data: []byte(`{"kind":"product","url":"https://a.example/",` +
		`"fetched_at":"2026-01-01T00:00:00Z","visit":"v","key":"k","URL":"u","Key":"same","KEY":1,"Visit":"x","Fetched_At":"2020-01-01T00:00:00Z","status":7}`)})
	if r.URL != "https://a.example/" || r.Key != "k" || r.Visit != "v" || r.FetchedAt.Year() != 2026 || r.Status != nil {
		t.Errorf("%+v", r)
	}
	page := newRow(FromRecords, "a", &format.Record{Kind: "page", Data: []byte(`{"title":"a","Title":"b","TEXT":"c","status":200,"Status":1}`)})
	if p := page.Page(); *p.Title != "a" || p.Text != nil || *page.Status != 200 {
		t.Errorf("%+v, %+v", page, p)
	}
	mixed := newRow(FromRecords, "a", &format.Record{Kind: "product", Data: []byte(`{"key":"k","Key":1,"url":7,"URL":"u"}`)})
	if mixed.Key != "k" || mixed.URL != "" {
		t.Errorf("with a member of another type: %+v", mixed)
	}
}
