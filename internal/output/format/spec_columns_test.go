package format

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/yamltest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// names returns the JSON names of a message's members, in order.
func names(v any) (all []string) {
	typ := reflect.TypeOf(v)
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}

func namesOf(columns []Column) (all []string) {
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return all
}

func TestColumnsOfMessagesAreAllTheyHave(t *testing.T) {
	spec := crawlspec.Default()
	spec.SetRender(crawlspec.RenderAlways)
	if got, want := namesOf(ColumnsOf(&spec, messages.KindPage)), names(messages.Record{}); !slices.Equal(got, want) {
		t.Errorf("of a page: columns %q, want %q", got, want)
	}
	if got, want := namesOf(ResultColumns()), names(messages.Result{}); !slices.Equal(got, want) {
		t.Errorf("of a result: columns %q, want %q", got, want)
	}
	spec = crawlspec.Default() // its pages are not rendered
	spec.Page.Fields = []string{"url", "markdown"}
	if got, want := namesOf(ColumnsOf(&spec, messages.KindPage)), []string{"url", "markdown", "truncated"}; !slices.Equal(got, want) {
		t.Errorf("of a page that may be cut: columns %q, want %q", got, want)
	}
	for name := range pageTypes {
		if !slices.Contains(crawlspec.PageFields, name) {
			t.Errorf("there is no field %s", name)
		}
	}
}

// No member of Seine's own records goes to More.
func TestMessagesFitTheirColumns(t *testing.T) {
	spec, at := crawlspec.Default(), time.Now()
	visit := messages.Visit{URL: messages.HashURL("u"), Round: 1}
	wait := messages.Millis(time.Second)
	result := messages.Result{
		Crawl: "c", Rev: 1, URL: "u", Visit: visit, Attempt: 1, Run: 1, Depth: 1, Redirects: 1, Referrer: "r", Class: messages.OK, Status: 200, Error: "e", Location: "l",
		ContentType: "t", Started: at, Timings: messages.Timings{Total: wait}, BytesWire: 1, BytesBody: 2, IP: "i", Protocol: "p",
		RetryAfter: wait, CrawlDelay: &wait, Age: wait, ETag: "e", LastModified: "l", Digest: "d", Rendered: "w", Requisites: 1, Actions: "a", NotRendered: "n", RenderProblems: messages.RenderProblems{{Reason: "r", Count: 1}}, GoneRecord: true, Fetcher: "f",
	}
	gone := messages.VisitRecord{Kind: messages.KindGone, Same: true, URL: "u", FetchedAt: at, Crawl: "c", Visit: visit, Status: 301, Class: messages.Redirect, Location: "l", Metadata: messages.Metadata{"a": "b"}}
	_, lines := pages(1)
	for kind, line := range map[string][]byte{
		messages.KindPage: lines[0].Data, KindResult: result.Encode(), messages.KindGone: gone.Encode(),
	} {
		columns := ColumnsOf(&spec, kind)
		if kind == KindResult {
			columns = ResultColumns()
		}
		r := newRow(columns)
		r.read(line)
		if len(r.more) > 0 {
			t.Errorf("%s: %s", kind, r.more)
		}
		for i, c := range r.cells {
			if c.raw == nil && kind == KindResult && r.columns[i].Name != "detail" {
				t.Errorf("%s is missing", r.columns[i].Name)
			}
		}
	}
}

func TestColumnsOfRules(t *testing.T) {
	spec := crawlspec.Default()
	err := yamltest.Unmarshal([]byte(`
page: {fields: [url, published, links, bytes]}
records:
  - kind: offer
    fields:
      title: h1
      price: {css: .p, as: number}
      stock: {css: .s, as: integer}
      used: {css: .u, as: boolean}
      day: {css: .d, as: date}
      image: {css: img, get: "@src", as: url}
      data: {css: script, as: json}
      any: {jq: .x}
      ld: {json_ld: .x}
      known: {jq: .y, as: text}
      tags: {css: .t, split: ","}
      prices: {css: .p, all: true, as: number}
      specs: {css: tr, map: {key: th, value: td}}
      sellers: {css: .s, all: true, fields: {name: .n}}
  - kind: offer
    fields:
      price: {css: .q, as: integer}
      title: {css: h2, as: number}
      day: h3
      more: h4
  - kind: other
    fields: {a: h1}
`), &spec)
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string][]Column{
		"offer": append(Envelope(),
			Column{"title", Text, false}, Column{"price", Number, false}, Column{"stock", Integer, false}, Column{"used", Bool, false},
			Column{"day", Text, false}, Column{"image", Text, false}, Column{"data", JSON, false}, Column{"any", JSON, false},
			Column{"ld", JSON, false}, Column{"known", Text, false}, Column{"tags", Text, true}, Column{"prices", Number, true},
			Column{"specs", JSON, false}, Column{"sellers", JSON, false}, Column{"more", Text, false}),
		"other":   append(Envelope(), Column{"a", Text, false}),
		"unknown": Envelope(),
		"page":    {{"url", Text, false}, {"published", Time, false}, {"links", JSON, false}, {"bytes", Integer, false}},
	} {
		if got := ColumnsOf(&spec, kind); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %v\nwant %v", kind, got, want)
		}
	}
}

// The columns of the envelope are the reserved names.
func TestEnvelopeIsWhatIsReserved(t *testing.T) {
	for _, name := range crawlspec.ReservedFields {
		if !slices.Contains(namesOf(Envelope()), name) {
			t.Errorf("%s is reserved, and no column", name)
		}
	}
}
