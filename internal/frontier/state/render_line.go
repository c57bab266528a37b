package state

import (
	"time"

	"seine/pkg/crawlspec"
)

// FetchCapacity is how many requests of a partition there may be in FETCH, or are.
type FetchCapacity struct {
	Requests int
	Renders  int // of those, the ones whose pages may need a browser
}

// renderLine has hosts wait in line whose next page may need a browser, while renderers have no room for more.
type renderLine struct {
	left int   // places in FETCH
	held bool  // the host that is looked at waits for one
	tail int64 // when the last host in line is looked at again
}

// Hosts in line are looked at again one by one, which costs little however many there are, and more often than renderers
// have room. None waits longer than maxRenderWait: it may have pages of another crawl by then, or the spec be another.
const (
	renderSlot    = int64(10 * time.Millisecond)
	maxRenderWait = int64(time.Minute)
)

// mayRender reports whether a page may need a browser.
func (r *Rules) mayRender(url string) bool { return r.Renders(url) != crawlspec.RenderNever }

// takes takes a place, or notes that there is none.
func (l *renderLine) takes() bool {
	if l.left <= 0 {
		l.held = true
		return false
	}
	l.left--
	return true
}

// slot returns when a host is looked at again that waits.
func (l *renderLine) slot(now int64) int64 {
	l.tail = min(max(l.tail, now)+renderSlot, now+maxRenderWait)
	return l.tail
}
