package state

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

func hostsOf(hs []frontierapi.HostStatus) (names []string) {
	for _, h := range hs {
		names = append(names, h.Host)
	}
	return names
}

func TestSurveyTellsWhatHostsWaitFor(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.Delay, s.PerHost = crawlspec.Duration(time.Hour), 1 })
	w.now = time.Now() // answers count from this time
	w.seed("https://a.test/1", "https://a.test/2", "https://a.test/3", "https://b.test/1", "https://b.test/2", "https://c.test/1")
	w.dispatch(2)
	w.result("https://a.test/1", func(r *messages.Result) {
		r.Class, r.Status, r.Error, r.Timings.Total = messages.Gone, 404, "", messages.Millis(300*time.Millisecond)
	})
	w.change(func(s *crawlspec.Spec) { w.must(s.SetState("c.test", crawlspec.Paused)) })
	w.wantSent(w.dispatch(10))

	got, err := w.part.Questions.Survey(frontierapi.Query{Top: 2})
	w.must(err)
	for why, n := range map[string]int64{"delay": 1, frontierapi.Asked: 1, "parked": 1} {
		if got.Hosts[why] != n {
			t.Errorf("%d hosts are said to wait for %s, want %d: %v", got.Hosts[why], why, n, got.Hosts)
		}
	}
	if names := hostsOf(got.Slowest); !slices.Equal(names, []string{"a.test", "b.test"}) {
		t.Errorf("the slowest are %q", names)
	}
	if names := hostsOf(got.Longest); !slices.Equal(names, []string{"a.test", "b.test"}) {
		t.Errorf("those with the longest queues are %q", names)
	}
	if len(got.Troubles) != 1 || got.Troubles[0].URL != "https://a.test/1" || got.Troubles[0].Class != messages.Gone {
		t.Errorf("what went wrong: %+v", got.Troubles)
	}
	if crawls := got.Longest[0].Crawls; !slices.Equal(crawls, []frontierapi.HostWork{{Crawl: "c", Queued: 2}}) {
		t.Errorf("a.test is wanted by %+v", crawls)
	}
	other, err := w.part.Questions.Survey(frontierapi.Query{Crawl: "other", Top: 2})
	w.must(err)
	if len(other.Hosts)+len(other.Slowest)+len(other.Troubles) > 0 {
		t.Errorf("of another crawl: %+v", other)
	}
}

func TestHostTellsItsLastAnswers(t *testing.T) {
	w := newPartitionFixture(t, nil)
	w.now = time.Now()
	for i := range 6 {
		url := fmt.Sprintf("https://a.test/%d", i)
		w.seed(url)
		w.dispatch(1)
		w.result(url, func(r *messages.Result) {
			r.Started, r.Status, r.Timings.Total = time.UnixMilli(int64(i)), 200+i, messages.Millis(time.Second)
		})
	}
	h, err := w.part.Questions.HostDetail("a.test")
	w.must(err)
	if len(h.Last) != 4 || h.Last[0] != (frontierapi.Attempt{AtMS: 1002, Class: messages.OK, Status: 202, TookMS: 1000}) || h.Last[3].Status != 205 {
		t.Errorf("the last answers are %+v, want those from 202 to 205", h.Last)
	}
}

// However many URLs there are, the failed ones are returned without reading the others.
func TestFewFailedURLsAmongManyAreFoundAtOnce(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts = 1 })
	w.seed("https://a.test/")
	w.dispatch(1)
	w.result("https://a.test/", class(messages.Gone))
	for i := range maxScanned/messages.MaxBatchURLs + 1 {
		var urls []string
		for j := range messages.MaxBatchURLs {
			urls = append(urls, fmt.Sprintf("https://b.test/%d/%d", i, j))
		}
		w.link(1, urls...)
	}
	page, err := w.part.Questions.FailedURLs(frontierapi.Query{Crawl: "c"})
	if err != nil || len(page.URLs) != 1 || page.URLs[0].URL != "https://a.test/" || page.Next != "" {
		t.Errorf("the first answer is %+v, %v", page, err)
	}
}

// Whatever is submitted meanwhile, each failed URL is returned once.
func TestFailedURLsAreToldPageByPage(t *testing.T) {
	w := newPartitionFixture(t, func(s *crawlspec.Spec) { s.MaxAttempts = 1 })
	want := make(map[string]string)
	for i := range 25 {
		url := fmt.Sprintf("https://a.test/%d", i)
		c := []messages.Class{messages.OK, messages.Gone, messages.Timeout, messages.TooLarge}[i%4]
		w.seed(url)
		w.dispatch(1)
		w.result(url, class(c))
		if c == messages.OK {
			m := &messages.Candidates{Crawl: "c", Source: messages.SourceLink, Ends: messages.Visit{URL: messages.HashURL(url), Round: 1}}
			if i%8 == 0 {
				m.ParseError, want[url] = "no such tag", frontierapi.ParseFailed
			}
			_, err := w.part.ApplyCandidates(m, 1, w.at())
			w.must(err)
			w.must(w.part.Commit(w.at()))
			continue
		}
		want[url] = string(c)
	}
	got := make(map[string]string)
	for q := (frontierapi.Query{Crawl: "c", Top: 3}); ; {
		page, err := w.part.Questions.FailedURLs(q)
		w.must(err)
		if len(page.URLs) > 3 {
			t.Fatalf("%d URLs on a page of 3", len(page.URLs))
		}
		for _, f := range page.URLs {
			if got[f.URL] != "" {
				t.Errorf("%s is told twice", f.URL)
			}
			got[f.URL] = f.Class
			w.seed(f.URL) // it is retried, and not returned as long as it is queued
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d URLs are told, want %d", len(got), len(want))
	}
	for url, c := range want {
		if got[url] != c {
			t.Errorf("%s failed by %q, want %q", url, got[url], c)
		}
	}
	if page, err := w.part.Questions.FailedURLs(frontierapi.Query{Crawl: "c"}); err != nil || len(page.URLs) > 0 {
		t.Errorf("after all were fed again: %+v, %v", page, err)
	}
	if _, err := w.part.Questions.FailedURLs(frontierapi.Query{Crawl: "c", After: "zz"}); err == nil {
		t.Error("nonsense for a place is taken")
	}
}
