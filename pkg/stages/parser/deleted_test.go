package parser

import (
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A page of a deleted crawl produces nothing: neither links nor the end of its visit. A page of a
// new crawl with that name produces all links, although they were sent for the deleted crawl.
func TestPageOfADeletedCrawlIsDropped(t *testing.T) {
	p := newParser(t, nil)
	body := []byte(`<a href="/a">a</a>`)
	old := page("text/html")
	old.Rev = 1
	if got := p.parsed(t, old, body); len(got.links) != 1 {
		t.Fatalf("links %q", got.links)
	}
	d, err := p.specs.Deletions.Delete(t.Context(), "c", messages.Deletion{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Handle(t.Context(), message(old, body))
	if err != nil || len(out.Messages()) > 0 {
		t.Errorf("of the deleted crawl: %+v, %v", out, err)
	}
	fresh := page("text/html")
	fresh.Rev, fresh.Visit.Round = d.Rev, messages.FirstRound(0, d.Count)
	if got := p.parsed(t, fresh, body); len(got.links) != 1 || got.last.Rev != d.Rev {
		t.Errorf("of the new crawl: %+v", got)
	}
}

// Pages of a deleted crawl make no duplicates in the next one.
func TestDuplicatesOfADeletedCrawlAreForgotten(t *testing.T) {
	p := newParser(t, func(s *crawlspec.Spec) { s.Duplicates.Exact = crawlspec.DuplicateMark })
	body := []byte("<p>the same text")
	first := p.parsed(t, page("text/html"), body)
	other := page("text/html")
	other.URL = "https://site.test/other"
	other.Visit = messages.Visit{URL: messages.HashURL(other.URL), Round: 1}
	if again := p.parsed(t, other, body); first.record.DuplicateOf != (messages.Visit{}) || again.record.DuplicateOf.IsZero() {
		t.Fatalf("%+v, then %+v", first.record, again.record)
	}
	other.Visit.Round = messages.FirstRound(0, 1)
	if got := p.parsed(t, other, body); !got.record.DuplicateOf.IsZero() {
		t.Errorf("a page of the next crawl repeats %v", got.record.DuplicateOf)
	}
}
