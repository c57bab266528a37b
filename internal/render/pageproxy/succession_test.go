package pageproxy

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
)

// While the previous page lives on, its requests do not pass: those before the document is
// requested, and those that the browser abandons when the page is in place. Requests of the page
// itself wait until then.
func TestRequestsOfThePageBeforeDoNotPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSuccession(false)
		early, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/early", nil)
		if s.isOfPage(t.Context(), early) {
			t.Error("a request passes before the document is asked for")
		}
		s.ask()
		passed := make(chan bool, 2)
		ctx, giveUp := context.WithCancel(t.Context())
		given := early.WithContext(ctx)
		for _, r := range []*http.Request{given, early} {
			go func() { passed <- s.isOfPage(t.Context(), r) }()
		}
		synctest.Wait()
		select {
		case <-passed:
			t.Fatal("a request does not wait until the page is in its place")
		default:
		}
		s.place()
		giveUp()
		if <-passed {
			t.Error("a request passes that the browser has given up")
		}
		if !<-passed {
			t.Error("a request of the page does not pass")
		}
		if !s.isOfPage(t.Context(), early) {
			t.Error("a request does not pass when the page is in its place")
		}
	})
}

func TestFirstPageWaitsForNothing(t *testing.T) {
	s := newSuccession(true)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.com/", nil)
	if !s.isOfPage(t.Context(), r) {
		t.Error("a request of the first page does not pass")
	}
}
