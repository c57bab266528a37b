package pageproxy

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// succession tells the requests of a page from those of the page before, which lives on in the tab until the browser puts the new
// one in its place. Before the document is asked for, they are all of the page before. After that, they wait until the page is in
// its place: the browser has abandoned by then what the page before has asked for.
type succession struct {
	asked, placed chan struct{}
	ask, place    func() // close them
	isFirst       bool   // there is no page before
}

// giveUpTime is how long after the page is in its place the browser may take to give up what the page before has asked for. A request
// of the page itself waits so long only if it comes before it is known that the page is in its place.
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

// InPlace says that the browser has put the page of the visit in the place of the one before.
func (p *Proxy) InPlace() {
	if v := p.visiting(); v != nil {
		v.succession.place()
	}
}
