package render

import (
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"seine/internal/render/activity"
)

// pageRequests are the requests of a page that have not ended, as the page itself reports. The
// proxy sees a request when the browser's network process sends it, and has finished a response
// when that process has it. On a busy machine the page reports the start earlier and the end later.
type pageRequests struct {
	*activity.Activity
	frame cdp.FrameID // main frame

	mu   sync.Mutex
	open map[network.RequestID]bool
}

func newPageRequests(frame cdp.FrameID) pageRequests {
	return pageRequests{Activity: activity.New(), frame: frame, open: make(map[network.RequestID]bool)}
}

// reportRequests makes the browser report requests, and keep no bodies.
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
		if e.Type == network.ResourceTypeEventSource { // it does not end
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

// isOfPage reports whether a request counts. It must go through the proxy, and must not be for the
// page's document or its replacement. It must not be for the script of a worker, which has no
// document, and whose end only the worker sees.
func (r *pageRequests) isOfPage(e *network.EventRequestWillBeSent) bool {
	main := e.FrameID == r.frame && e.Type == network.ResourceTypeDocument
	return strings.HasPrefix(e.Request.URL, "http") && !main && e.LoaderID != ""
}

// begin counts a request. After a redirect the browser reports the same request again.
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

// giveUp forgets the requests that have not ended.
func (r *pageRequests) giveUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.open {
		delete(r.open, id)
		r.End()
	}
}
