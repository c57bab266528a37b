package state

import (
	"time"

	"seine/pkg/crawlspec"
)

// FetchCapacity is a number of requests of a partition in FETCH: a maximum, or the current number.
type FetchCapacity struct {
	Requests int
	Renders  int // of those, requests whose pages may need a browser
}

// renderLine makes hosts wait whose next page may need a browser, while renderers have no capacity.
type renderLine struct {
	left int   // remaining capacity in FETCH
	held bool  // the current host waits for capacity
	tail int64 // when the last host in line is checked again
}

// Hosts in line are checked again one by one. That is cheap however many there are, and more
// frequent than free capacity. None waits longer than maxRenderWait, as it may get pages of another
// crawl, or the spec may change.
const (
	renderSlot    = int64(10 * time.Millisecond)
	maxRenderWait = int64(time.Minute)
)

// mayRender reports whether a page may need a browser.
func (r *Rules) mayRender(url string) bool { return r.Renders(url) != crawlspec.RenderNever }

// takes takes capacity, or notes that there is none.
func (l *renderLine) takes() bool {
	if l.left <= 0 {
		l.held = true
		return false
	}
	l.left--
	return true
}

// slot returns when a waiting host is checked again.
func (l *renderLine) slot(now int64) int64 {
	l.tail = min(max(l.tail, now)+renderSlot, now+maxRenderWait)
	return l.tail
}
