package render

import (
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
)

// navigation decides whether a navigation of a page is a redirect: only if its response is a
// document.
type navigation struct{ *visit }

// isByPage reports whether a request is a navigation of the main frame by a script or link of the
// page. Navigations by an action or a form are not, nor are the previous page's.
func (v navigation) isByPage(e *fetch.EventRequestPaused) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.RedirectedRequestID != "" {
		return v.redirect != ""
	}
	if v.navigations >= maxNavigations || v.loads == 0 || e.Request.URL == v.url || v.settled || e.Request.Method != http.MethodGet || e.Request.URL != v.leads {
		v.ignored = e.Request.URL
		if e.Request.URL == v.leads { // it replaces the previous navigation, which then gets no response
			v.redirect = ""
		}
		return false
	}
	v.navigations++
	v.redirect = e.Request.URL
	nth := v.navigations
	time.AfterFunc(responseTime, func() { v.expire(nth) })
	return true
}

// responseTime is the longest wait for the response to a navigation.
const responseTime = 3 * time.Second

// expire ends the visit with a redirect if the nth navigation still has no response.
func (v navigation) expire(nth int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.redirect != "" && v.navigations == nth {
		v.stop(errRedirected)
	}
}

// leave ends the visit with a redirect, unless the navigation was cancelled.
func (v navigation) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.redirect != "" {
		v.stop(errRedirected)
	}
}

// decide decides by the response whether the page is a redirect, or stays because the response has
// no document.
func (v navigation) decide(e *fetch.EventRequestPaused) {
	h := make(http.Header)
	for _, f := range e.ResponseHeaders {
		h.Add(f.Name, f.Value)
	}
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	empty := e.ResponseStatusCode == http.StatusNoContent || e.ResponseStatusCode == http.StatusResetContent
	shown := media == "" || strings.HasPrefix(media, "text/") || strings.Contains(media, "xml")
	switch {
	case e.ResponseStatusCode/100 == 3 && h.Get("Location") != "":
		go v.tab.do(fetch.ContinueRequest(e.RequestID))
		return
	case !empty && shown && !strings.HasPrefix(h.Get("Content-Disposition"), "attachment"):
		v.leave()
	case v.isRead():
		v.cancel(!empty)
	case empty:
		v.stop(errHalfRead)
	default:
		v.leave()
	}
	go v.tab.do(fetch.FailRequest(e.RequestID, network.ErrorReasonAborted))
}

// isRead reports whether the document was completely parsed. After an earlier navigation, the
// browser stops parsing.
func (v navigation) isRead() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.reached[eventDOM]
}

// cancel keeps the page. If linked is set, the URL becomes a link of the page; it is not set for a
// response without content.
func (v navigation) cancel(linked bool) {
	v.mu.Lock()
	url := v.redirect
	v.redirect = ""
	v.reach()
	v.mu.Unlock()
	if linked {
		v.opens(url)
	}
}
