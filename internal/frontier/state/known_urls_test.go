package state

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// known reads all pages of the answer, and returns the states of the URLs. Each URL must occur
// once.
func (w *partitionFixture) known(q frontierapi.Query, between func()) map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	for last := ""; ; last = q.After {
		page, err := w.part.Questions.URLsOfHost(q)
		w.must(err)
		if q.Top > 0 && len(page.URLs) > q.Top || page.Next != "" && page.Next <= last {
			w.t.Fatalf("%d URLs, and %q is next after %q", len(page.URLs), page.Next, last)
		}
		for _, u := range page.URLs {
			if all[u.URL] != "" {
				w.t.Errorf("%s is told twice", u.URL)
			}
			all[u.URL] = u.State
		}
		if q.After = page.Next; q.After == "" {
			return all
		}
		between()
	}
}

// Exactly the URLs of one host are returned, whatever else the crawl and others know, and whatever
// happens between two pages.
func TestKnownURLsAreThoseOfOneHost(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Exclude = []string{"*/private/*"} })
	want := map[string]string{"https://a.test/private/x": "excluded", "https://a.test/0": "parsing"}
	w.seed("https://a.test/0")
	w.dispatch(1)
	w.result("https://a.test/0", class(messages.OK))
	w.seed("https://a.test/private/x")
	for i := 1; i < 40; i++ {
		want[fmt.Sprintf("https://a.test/%d", i)] = frontierapi.StateQueued
		w.seed(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("https://b.test/%d", i), fmt.Sprintf("https://a.test:8443/%d", i))
	}
	for _, top := range []int{0, 3, 1} {
		got := w.known(frontierapi.Query{Crawl: "c", Host: "a.test", Top: top}, func() { w.pass(1); w.dispatch(0) })
		if !maps.Equal(got, want) {
			t.Errorf("%d at a time: %v, want %v", top, got, want)
		}
	}
	for _, q := range []frontierapi.Query{{Crawl: "c", Host: "nowhere.test"}, {Crawl: "d", Host: "a.test"}, {Crawl: "c"}} {
		if got := w.known(q, func() {}); len(got) != 0 {
			t.Errorf("%+v: %v", q, got)
		}
	}
	first, last := strings.Repeat("00", 16), strings.Repeat("ff", 16)
	if got := w.known(frontierapi.Query{Crawl: "c", Host: "a.test", After: first}, func() {}); !maps.Equal(got, want) {
		t.Errorf("after what is before the host: %v", got)
	}
	if got := w.known(frontierapi.Query{Crawl: "c", Host: "a.test", After: last}, func() {}); len(got) != 0 {
		t.Errorf("after what is behind the host: %v", got)
	}
	for _, after := range []string{"zz", "00", first + "00"} {
		if _, err := w.part.Questions.URLsOfHost(frontierapi.Query{Crawl: "c", Host: "a.test", After: after}); err == nil || !strings.Contains(err.Error(), "must be the cursor of the last response") {
			t.Errorf("after %q: %v", after, err)
		}
	}
}

// An answer fits into a message, however long the URLs are and however much must be escaped in
// them.
func TestKnownURLsOfOneAnswerAreBounded(t *testing.T) {
	w := newPartitionFixture(t, nil)
	long := strings.Repeat("&", 1900)
	for i := range 400 {
		w.seed(fmt.Sprintf("https://a.test/%d?%s", i, long))
	}
	page, err := w.part.Questions.URLsOfHost(frontierapi.Query{Crawl: "c", Host: "a.test"})
	w.must(err)
	if n := len(page.URLs); n > maxKnownText/1900+1 || n == 0 || page.Next == "" {
		t.Errorf("%d URLs of 1.9 KB, then %q", n, page.Next)
	}
	if n := len(w.known(frontierapi.Query{Crawl: "c", Host: "a.test"}, func() {})); n != 400 {
		t.Errorf("%d URLs in all parts, want 400", n)
	}
}
