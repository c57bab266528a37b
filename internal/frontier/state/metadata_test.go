package state

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// take applies a message.
func (w *partitionFixture) take(m *messages.Candidates) {
	w.t.Helper()
	m.Crawl, m.Rev = "c", w.current.Rev
	bad, err := w.part.ApplyCandidates(m, 1, w.at())
	w.must(err)
	if len(bad) > 0 {
		w.t.Fatalf("not taken: %v", bad)
	}
	w.must(w.part.Commit(w.at()))
}

// seedWith submits a URL with metadata.
func (w *partitionFixture) seedWith(url string, m messages.Metadata, inherit bool) {
	w.t.Helper()
	w.take(&messages.Candidates{Source: messages.SourceSeed, URLs: []messages.Candidate{{URL: url, Metadata: m, Inherit: inherit}}})
}

// found adds a URL that was found on a page with metadata.
func (w *partitionFixture) found(source messages.Source, depth int, url string, m messages.Metadata, inherit bool) {
	w.t.Helper()
	w.take(&messages.Candidates{
		Source: source, Depth: depth, Referrer: "https://from.test/", URLs: []messages.Candidate{{URL: url}}, Metadata: m, Inherit: inherit,
	})
}

// wantMetadata checks the metadata of the request in flight for a URL.
func (w *partitionFixture) wantMetadata(url string, want messages.Metadata, inherit bool) {
	w.t.Helper()
	req := w.part.urls.inFlight[urlID{"c", messages.HashURL(url)}]
	if req == nil {
		w.t.Fatalf("%s is not under way", url)
	}
	m, err := w.part.Requests.Message(req)
	w.must(err)
	if !maps.Equal(m.Metadata, want) || m.Inherit != inherit {
		w.t.Errorf("%s is asked for with %v (inherited: %v), want %v (%v)", url, m.Metadata, m.Inherit, want, inherit)
	}
	if _, err := messages.DecodeRequest(m.Encode()); err != nil {
		w.t.Error(err)
	}
}

// labelled counts the URLs that have metadata.
func (w *partitionFixture) labelled() (n int) {
	w.must(w.store.scan(table.Prefix(0, kindURL), nil, func(_, value []byte) (bool, error) {
		r, err := decodeRecord(value)
		if err == nil && r.Metadata != nil {
			n++
		}
		return true, err
	}))
	return n
}

// countKeys counts the keys of a kind.
func (w *partitionFixture) countKeys(kind byte) (n int) {
	w.must(w.store.scan(table.Prefix(0, kind), nil, func(_, _ []byte) (bool, error) { n++; return true, nil }))
	return n
}

var customer17, customer18 = messages.Metadata{"customer": "17"}, messages.Metadata{"customer": "18"}

// Every request for a seed has its metadata, in each attempt and each visit, even after a restart.
func TestMetadataOfASeedIsInItsRequests(t *testing.T) {
	const url = "https://a.test/"
	w := newPartitionFixture(t, func(s *crawlspec.Spec) {
		s.Recrawl = []crawlspec.RecrawlRule{{Match: "*", Every: crawlspec.Duration(time.Hour)}}
	})
	w.seedWith(url, customer17, false)
	w.seed("https://b.test/")
	w.restart()
	w.dispatch(10)
	w.wantMetadata(url, customer17, false)
	w.wantMetadata("https://b.test/", nil, false)
	w.result(url, class(messages.Timeout))
	w.pass(time.Minute)
	w.wantSent(w.dispatch(10), url)
	w.wantMetadata(url, customer17, false)
	w.answer(url, messages.OK)
	w.parsed(url)
	w.pass(2 * time.Hour)
	w.restart()
	w.wantSent(w.dispatch(10), url)
	w.wantMetadata(url, customer17, false)
}

// Submitting a seed again replaces its metadata, keeps it, or removes it. A spec determines the
// metadata of all seeds that it lists.
func TestMetadataIsReplaced(t *testing.T) {
	const url = "https://a.test/"
	for name, tt := range map[string]struct {
		change func(*partitionFixture)
		want   messages.Metadata
	}{
		"fed with other":   {func(w *partitionFixture) { w.seedWith(url, customer18, false) }, customer18},
		"fed without":      {func(w *partitionFixture) { w.seed(url) }, customer17},
		"fed with none":    {func(w *partitionFixture) { w.seedWith(url, messages.Metadata{}, false) }, nil},
		"a redirect to it": {func(w *partitionFixture) { w.found(messages.SourceRedirect, 0, url, customer18, true) }, customer17},
		"a link to it":     {func(w *partitionFixture) { w.found(messages.SourceLink, 0, url, customer18, true) }, customer17},
		"listed with other": {func(w *partitionFixture) {
			w.change(func(s *crawlspec.Spec) { s.Seeds = []crawlspec.Seed{{URL: url, Metadata: customer18}} })
			w.feedSeeds()
		}, customer18},
		"listed without": {func(w *partitionFixture) {
			w.change(func(s *crawlspec.Spec) { s.Seeds = listed(url) })
			w.feedSeeds()
		}, nil},
		"a late list": {func(w *partitionFixture) {
			w.take(&messages.Candidates{Source: messages.SourceSeed, SeedList: 3, URLs: []messages.Candidate{{URL: url, Metadata: customer18}}})
			w.gen--
			w.current.Rev--
			w.take(&messages.Candidates{Source: messages.SourceSeed, SeedList: 2, URLs: []messages.Candidate{{URL: url}}})
		}, customer18},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPartitionFixture(t, nil)
			w.change(func(s *crawlspec.Spec) { s.MaxDepth = new(3) })
			w.seedWith(url, customer17, false)
			tt.change(w)
			w.dispatch(10)
			w.wantMetadata(url, tt.want, false)
		})
	}
}

// The target of a seed's redirect gets its metadata, whether it was known or not; the last redirect
// to it counts.
func TestMetadataGoesWithRedirects(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.link(0, "https://a.test/known")
	for range 2 { // the second time it is in the recent links
		w.link(3, "https://a.test/deep")
	}
	w.found(messages.SourceRedirect, 0, "https://a.test/known", customer17, false)
	w.found(messages.SourceRedirect, 0, "https://a.test/new", customer17, true)
	w.found(messages.SourceRedirect, 0, "https://a.test/new", customer18, false)
	w.found(messages.SourceRedirect, 3, "https://a.test/deep", customer18, true)
	w.seed("https://a.test/")
	w.dispatch(10)
	w.wantMetadata("https://a.test/known", customer17, false)
	w.wantMetadata("https://a.test/new", customer18, false)
	w.wantMetadata("https://a.test/deep", customer18, true)
}

// URLs found on a page inherit only where that is requested, and keep the metadata that they were
// found with first. Ten thousand URLs with the same inherited metadata store it once.
func TestMetadataIsInherited(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/")
	w.link(1, "https://a.test/known")
	w.found(messages.SourceLink, 1, "https://a.test/known", customer17, true)
	w.found(messages.SourceLink, 1, "https://a.test/1", customer17, true)
	w.found(messages.SourceLink, 0, "https://a.test/1", customer18, true)
	w.dispatch(10)
	w.wantMetadata("https://a.test/known", nil, false)
	w.wantMetadata("https://a.test/1", customer17, true)
	if n := w.labelled(); n != 1 {
		t.Errorf("%d URLs have metadata, want 1", n)
	}

	var urls []messages.Candidate
	for i := range 1000 {
		urls = append(urls, messages.Candidate{URL: fmt.Sprintf("https://a.test/many%d", i)})
	}
	for range 2 {
		w.take(&messages.Candidates{Source: messages.SourceLink, Depth: 1, URLs: urls, Metadata: customer17, Inherit: true})
	}
	w.restart()
	if texts, all := w.countKeys(kindInherited), w.labelled(); texts != 1 || all != 1001 {
		t.Errorf("%d texts for %d URLs, want 1 for 1001", texts, all)
	}
	w.dispatch(10)
	w.wantMetadata("https://a.test/many7", customer17, true)
}

// A crawl whose seeds have no metadata stores none.
func TestNoMetadataCostsNothing(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seed("https://a.test/", "https://b.test/")
	w.link(1, "https://a.test/1")
	w.found(messages.SourceLink, 1, "https://a.test/2", nil, false)
	w.dispatch(10)
	if n := w.labelled() + w.countKeys(kindInherited); n > 0 {
		t.Errorf("%d keys", n)
	}
}

// A new crawl under a deleted name has none of its metadata.
func TestMetadataIsDeletedWithItsCrawl(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seedWith("https://a.test/", customer17, true)
	w.found(messages.SourceLink, 1, "https://a.test/1", customer17, true)
	w.delete()
	w.tend()
	if n := w.labelled() + w.countKeys(kindInherited); n > 0 {
		t.Errorf("%d keys are left", n)
	}
	w.seed("https://a.test/")
	w.link(1, "https://a.test/1")
	w.dispatch(10)
	w.wantMetadata("https://a.test/", nil, false)
	w.wantMetadata("https://a.test/1", nil, false)
}

// Unreadable metadata is quarantined, and blocks no request.
func TestMetadataThatCannotBeReadIsSetAside(t *testing.T) {
	const seed, link = "https://a.test/", "https://a.test/1"
	for name, spoil := range map[string]fault{
		"its text": damage(func(b *pebble.Batch, key, v []byte) {
			r, err := decodeRecord(v)
			if err != nil {
				panic(err)
			}
			if text := r.Metadata.text; r.URL == seed {
				r.Metadata.text = text[:len(text)-1]
			}
			_ = b.Set(key, r.Encode(nil), nil)
		}, kindURL),
		"what is gone":     damage(func(b *pebble.Batch, key, _ []byte) { _ = b.Delete(key, nil) }, kindInherited),
		"what it inherits": damage(func(b *pebble.Batch, key, _ []byte) { _ = b.Set(key, []byte(`{"":"x"}`), nil) }, kindInherited),
	} {
		t.Run(name, func(t *testing.T) {
			w := newPartitionFixture(t, nil)
			w.seedWith(seed, customer17, false)
			w.found(messages.SourceLink, 1, link, customer17, true)
			spoil(w)
			w.restart()
			w.wantSent(w.dispatch(10), seed, link)
			spoilt := link
			if name == "its text" {
				spoilt = seed
			}
			w.wantMetadata(spoilt, nil, false)
			if !w.part.loggedRepairs[repairURL] {
				t.Error("nobody is told")
			}
		})
	}
}

func TestMetadataIsExplained(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.seedWith("https://a.test/", customer17, true)
	e, err := w.part.Questions.Explain("c", "https://a.test/")
	if err != nil || !maps.Equal(e.Metadata, customer17) || !e.Inherit {
		t.Errorf("%+v, %v", e, err)
	}
}
