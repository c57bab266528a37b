package stages

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Only the text of a spec is kept for each crawl, and equal texts are kept once.
func TestEqualSpecsAreKeptOnce(t *testing.T) {
	spec := crawlspec.Default()
	var texts specTexts
	at := time.Unix(1_800_000_000, 5)
	a, err := texts.stored(spec.Encode(), 1, at)
	if err != nil {
		t.Fatal(err)
	}
	spec.Keep = crawlspec.Duration(time.Hour)
	c, err := texts.stored(spec.Encode(), 3, at)
	if err != nil {
		t.Fatal(err)
	}
	spec.Keep = 0
	b, err := texts.stored(spec.Encode(), 2, at)
	if err != nil || a.text != b.text || a.text == c.text || a.expires || !c.expires {
		t.Errorf("%+v, %+v and %+v, %v", a, b, c, err)
	}
	r := texts.revised(b, nil)
	if r.Spec != texts.revised(a, nil).Spec || r.Rev != 2 || !r.Time.Equal(at) || texts.revised(c, nil).Keep == 0 {
		t.Errorf("read again: %+v", r)
	}
	if _, err := texts.stored([]byte("{"), 4, at); err == nil {
		t.Error("a text that is none was taken")
	}
	if none := texts.revised(storedSpec{}, nil); none.Spec != defaultSpec() || !none.Time.IsZero() {
		t.Errorf("without a spec: %+v", none)
	}
}

// A reader that asks repeatedly learns of every change, and for a crawl that changed often at least
// of the last one. The memory does not grow with the number of changes.
func TestNewsOfSpecsAreToldToWhoeverAsks(t *testing.T) {
	s := newSpecs(nil, nil)
	var asked uint64
	rev := uint64(0)
	for round := range 50 {
		var want []string
		for i := range 7 {
			rev++
			crawl := fmt.Sprint("c", (round+i)%10)
			s.keep(crawl, storedSpec{rev: rev})
			want = append(want, crawl)
		}
		last := make(map[string]uint64)
		for _, c := range s.Changes(asked) {
			last[c.Crawl] = c.Rev
		}
		asked = s.Generation()
		for _, crawl := range want {
			if last[crawl] != s.byCrawl[crawl].rev {
				t.Fatalf("round %d: %s is at %d, told was %d", round, crawl, s.byCrawl[crawl].rev, last[crawl])
			}
		}
		if len(last) != 7 || len(s.Changes(asked)) > 0 {
			t.Fatalf("round %d: told of %v, then of %v", round, last, s.Changes(asked))
		}
	}
	all := s.Changes(0)
	for i := range 10 {
		if !slices.ContainsFunc(all, func(c crawlspec.Change) bool { return c.Crawl == fmt.Sprint("c", i) }) {
			t.Errorf("c%d is not among all changes", i)
		}
	}
	if len(all) > 2*10+leastNews {
		t.Errorf("%d changes are remembered", len(all))
	}
}

// The progress in one bucket does not count for another.
func TestKnownSpecsAreOfOneBucket(t *testing.T) {
	s := newSpecs(nil, nil)
	first, second := time.Unix(1, 0), time.Unix(2, 0)
	s.follows(first)
	s.reached(5)
	s.reached(3)
	s.follows(first) // again, after the connection was lost
	if got := s.Known(); got != (crawlspec.Progress{Bucket: first.UnixNano(), Rev: 5}) {
		t.Errorf("known is %+v", got)
	}
	s.follows(second)
	if got := s.Known(); got != (crawlspec.Progress{Bucket: second.UnixNano(), Rev: 0}) {
		t.Errorf("of the next bucket %+v", got)
	}
}

// Only crawls with their own spec are listed, not those with the default.
func TestCrawlsWithASpecAreListed(t *testing.T) {
	s := newSpecs(nil, nil)
	spec := crawlspec.Default()
	for rev, crawl := range []string{"b", "a", "gone"} {
		stored, err := s.decoded.stored(spec.Encode(), uint64(rev)+1, time.Unix(1, 0))
		if err != nil || !s.keep(crawl, stored) {
			t.Fatal(crawl, err)
		}
	}
	s.knownOrDefault("fed")
	d := messages.Deletion{}
	s.Deletions.store("gone", d.Encode(), 9)
	if got := s.Crawls(); !slices.Equal(got, []string{"a", "b"}) || !s.HasOwn("a") || s.HasOwn("gone") || s.HasOwn("fed") || s.HasOwn("none") {
		t.Errorf("listed are %v", got)
	}
}
