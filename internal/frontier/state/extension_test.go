package state

import (
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Files that are not pages are not fetched, and do not count as failures. Seeds are fetched, and so
// are files whose type the crawl wants, as soon as its spec says so.
func TestFilesThatAreNoPagesAreExcludedByExtension(t *testing.T) {
	const image, film, seed = "https://a.test/1.jpg", "https://a.test/2.mp4?q=1", "https://a.test/3.png"
	w := newPartitionFixture(t, nil)
	w.seed(seed)
	w.link(1, image, film)
	w.wantSent(w.dispatch(10), seed)
	w.wantState(image, Excluded, frontierapi.ReasonExtension)
	w.wantState(film, Excluded, frontierapi.ReasonExtension)
	w.change(func(s *crawlspec.Spec) { s.Accept = crawlspec.Strings{"image/*"} })
	w.tend()
	w.wantSent(w.dispatch(10), image)
	w.wantState(film, Excluded, frontierapi.ReasonExtension)
	w.change(func(s *crawlspec.Spec) { s.SkipExtensions = crawlspec.Extensions{} })
	w.tend()
	w.wantSent(w.dispatch(10), film)
}

// A sitemap that an index or robots.txt names is fetched whatever its extension: many are
// compressed files.
func TestSitemapsAreNotExcludedByExtension(t *testing.T) {
	const sitemap, file = "https://a.test/sitemap.xml.gz", "https://a.test/other.xml.gz"
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	w.take(&messages.Candidates{Source: messages.SourceLink, Depth: 1, URLs: []messages.Candidate{{URL: sitemap, Sitemap: true}, {URL: file}}})
	w.wantState(sitemap, Queued, "")
	w.wantState(file, Excluded, frontierapi.ReasonExtension)
}

// A URL whose type turns out to be unwanted is not a failure either, and other changes of the spec
// do not refetch it. A recrawl rule does: its type may have been a mistake.
func TestURLOfATypeThatIsNotKeptIsExcludedAfterOneRequest(t *testing.T) {
	const url = "https://a.test/picture"
	w := newPartitionFixture(t, nil)
	w.seed(url)
	w.wantSent(w.dispatch(10), url)
	w.result(url, class(messages.UnsupportedType))
	w.wantState(url, Excluded, frontierapi.ReasonType)
	w.change(func(s *crawlspec.Spec) { s.MaxAttempts++ })
	w.tend()
	w.wantSent(w.dispatch(10))

	w = newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: crawlspec.Duration(1 << 40)}}
	})
	w.seed(url)
	w.wantSent(w.dispatch(10), url)
	w.result(url, class(messages.UnsupportedType))
	if n := w.part.crawls.active["c"].Planned; n != 1 {
		t.Errorf("%d visits are planned, want one", n)
	}
}
