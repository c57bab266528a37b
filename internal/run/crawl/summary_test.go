package crawl

import (
	"bytes"
	"strings"
	"testing"
)

func TestSummaryNamesCancelledHostsAndFailedLogins(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	s := Summary{Crawl: "news", Outcome: OutcomeComplete, CancelledHosts: []string{"a.test", "*.b.test"}, FailedLogins: 2}
	s.Write(&text)
	for _, want := range []string{"logins       2 failed: check render.login", "news: complete, but for hosts that are cancelled", "a.test, *.b.test; seine resume --host NAME"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, text.String())
		}
	}
}

// A run of a crawl that is at its limit fetches nothing, and names the queue that its URLs are in.
func TestSummaryOfALimitThatWasReachedBefore(t *testing.T) {
	t.Parallel()
	s := Summary{Outcome: OutcomeLimit, Limit: "max_pages", Pages: 6, PagesBefore: 6, URLs: URLCounts{Open: 15}}
	if got, want := s.headline(), "already at its limit max_pages, so no page was fetched; 15 URLs in the queue: raise --max-pages to continue"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Pages = 7
	if got, want := s.headline(), "stopped at its limit max_pages; raise --max-pages to continue"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
