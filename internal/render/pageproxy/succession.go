package pageproxy

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// succession distinguishes the requests of a page from those of the previous page, which lives on
// in the tab until the browser replaces it. Before the document is requested, all requests are the
// previous page's. After that, they wait until the page is in place: by then the browser has
// abandoned the requests of the previous page.
type succession struct {
	asked, placed chan struct{}
	ask, place    func() // close them
	isFirst       bool   // there is no previous page
}

// giveUpTime is how long the browser may take to abandon the previous page's requests after the
// page is in place. A request of the page itself waits for this only if it comes before it is known
// that the page is in place.
const giveUpTime = 100 * time.Millisecond

func newSuccession(first bool) succession {
	s := succession{asked: make(chan struct{}), placed: make(chan struct{}), isFirst: first}
	s.ask = sync.OnceFunc(func() { close(s.asked) })
	s.place = sync.OnceFunc(func() { close(s.placed) })
	return s
}

// isOfPage reports whether a request is one of the page. It waits until that is known.
func (s *succession) isOfPage(visit context.Context, r *http.Request) bool {
	if s.isFirst || isClosed(s.placed) {
		return true
	}
	if !isClosed(s.asked) {
		return false
	}
	select {
	case <-s.placed:
	case <-r.Context().Done():
		return false
	case <-visit.Done():
		return false
	}
	select {
	case <-time.After(giveUpTime):
		return true
	case <-r.Context().Done():
		return false
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// InPlace signals that the browser has replaced the previous page by the visit's.
func (p *Proxy) InPlace() {
	if v := p.visiting(); v != nil {
		v.succession.place()
	}
}
