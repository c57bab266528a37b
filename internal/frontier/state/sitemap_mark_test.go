package state

import (
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// wantMark checks whether the request for a URL says that it is a sitemap.
func (w *partitionFixture) wantMark(url string, want bool) {
	w.t.Helper()
	req := w.part.urls.inFlight[urlID{"c", messages.HashURL(url)}]
	if req == nil {
		w.t.Fatalf("%s is not under way", url)
	}
	m, err := w.part.Requests.Message(req)
	w.must(err)
	if m.Sitemap != want {
		w.t.Errorf("%s is asked for as a sitemap: %v, want %v", url, m.Sitemap, want)
	}
}

// A URL known as a sitemap is requested as one, even after a restart, whether it was found as a
// page before or is later.
func TestSitemapsAreAskedForAsSuch(t *testing.T) {
	const named, linked, both, later, listed = "https://a.test/named", "https://a.test/linked", "https://a.test/both", "https://a.test/later", "https://a.test/listed"
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Sitemaps = true
		s.Seeds = []crawlspec.Seed{{URL: "https://a.test/"}, {Sitemap: listed}}
	})
	w.feedSeeds()
	mark := func(source messages.Source, url string) {
		w.take(&messages.Candidates{Source: source, URLs: []messages.Candidate{{URL: url, Sitemap: true}}})
	}
	mark(messages.SourceLink, named)
	for range 2 { // the second time it is in the recent links
		w.link(0, linked, both)
	}
	mark(messages.SourceLink, both)
	mark(messages.SourceLink, later)
	w.link(0, later)
	w.restart()
	w.dispatch(10)
	for url, want := range map[string]bool{named: true, linked: false, both: true, later: true, listed: true, "https://a.test/": false} {
		w.wantMark(url, want)
	}
}

// Submitting a sitemap that was taken for a page fetches it again, once.
func TestPageThatIsFedAsASitemapIsFetchedAgain(t *testing.T) {
	const url = "https://a.test/urls"
	w := newPartitionFixture(t, nil)
	w.seed(url)
	w.wantSent(w.dispatch(10), url)
	w.answer(url, messages.OK)
	w.parsed(url)
	feed := func() {
		w.take(&messages.Candidates{Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: url, Sitemap: true}}})
	}
	feed()
	w.wantSent(w.dispatch(10), url)
	w.wantMark(url, true)
	w.answer(url, messages.OK)
	w.parsed(url)
	feed()
	w.wantSent(w.dispatch(10))
}
