package render

import (
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"seine/internal/render/activity"
)

// pageRequests are those that a page has made and that have not ended, as the page itself reports. The proxy sees a request when the
// browser's network process sends it, and has done with an answer when that process has it: where a machine has much to do, the page is
// earlier with the one, and later with the other.
type pageRequests struct {
	*activity.Activity
	frame cdp.FrameID // the main one

	mu   sync.Mutex
	open map[network.RequestID]bool
}

func newPageRequests(frame cdp.FrameID) pageRequests {
	return pageRequests{Activity: activity.New(), frame: frame, open: make(map[network.RequestID]bool)}
}

// reportRequests has the browser report them, and keep no bodies.
func reportRequests() action {
	return network.Enable().WithMaxTotalBufferSize(1).WithMaxResourceBufferSize(1)
}

// heard receives the events of the tab.
func (r *pageRequests) heard(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if r.isOfPage(e) {
			r.begin(e.RequestID)
		}
	case *network.EventWebSocketCreated:
		r.begin(e.RequestID)
	case *network.EventResponseReceived:
		if e.Type == network.ResourceTypeEventSource { // it has no end
			r.end(e.RequestID)
		}
	case *network.EventWebSocketHandshakeResponseReceived:
		r.end(e.RequestID)
	case *network.EventWebSocketClosed:
		r.end(e.RequestID)
	case *network.EventLoadingFinished:
		r.end(e.RequestID)
	case *network.EventLoadingFailed:
		r.end(e.RequestID)
	}
}

// isOfPage reports whether a request counts: the proxy is asked; it is not that for the page itself, or for what is to be in its place;
// and not that for the script of a worker, which has no document, and whose end only the worker sees.
func (r *pageRequests) isOfPage(e *network.EventRequestWillBeSent) bool {
	main := e.FrameID == r.frame && e.Type == network.ResourceTypeDocument
	return strings.HasPrefix(e.Request.URL, "http") && !main && e.LoaderID != ""
}

// begin counts a request. After a redirect the same one is reported again.
func (r *pageRequests) begin(id network.RequestID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open[id] {
		r.open[id] = true
		r.Begin()
	}
}

func (r *pageRequests) end(id network.RequestID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[id] {
		delete(r.open, id)
		r.End()
	}
}

// giveUp forgets those that have not ended.
func (r *pageRequests) giveUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.open {
		delete(r.open, id)
		r.End()
	}
}
