package parser

import (
	"errors"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A page of a crawl without a usable spec is released and produces nothing, since its settings are
// unknown. Once the crawl has a spec, the page is parsed.
func TestPageOfACrawlThatStandsStillIsGivenBack(t *testing.T) {
	p := newParser(t, nil)
	kv, err := p.bus.JS.KeyValue(t.Context(), messages.BucketCrawls)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := kv.Put(t.Context(), "still", []byte(`{"v":1,"scope":"galaxy"}`))
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`<a href="/a">a</a>`)
	waiting := page("text/html")
	waiting.Crawl, waiting.Rev = "still", bad
	out, err := p.Handle(t.Context(), message(waiting, body))
	if !errors.Is(err, crawlspec.ErrStandsStill) || stages.IsPoison(err) || len(out.Messages()) > 0 {
		t.Errorf("while it stands still: %+v, %v", out, err)
	}
	if got := p.parsed(t, page("text/html"), body); len(got.links) != 1 {
		t.Errorf("of another crawl: %+v", got)
	}
	good, err := p.specs.Put(t.Context(), "still", new(crawlspec.Default()))
	if err != nil {
		t.Fatal(err)
	}
	waiting.Rev = good
	if out, err = p.Handle(t.Context(), message(waiting, body)); err != nil || len(out.Messages()) == 0 {
		t.Errorf("with a spec: %+v, %v", out, err)
	}
}
