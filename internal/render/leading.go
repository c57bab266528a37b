package render

import (
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
)

// leading decides whether a page leads elsewhere: only if a document is there.
type leading struct{ *visit }

// isLead reports whether the main frame asks for a document that the page leads to: not where it is told to by the job, or sends a form,
// or it is the page before that asks.
func (v leading) isLead(e *fetch.EventRequestPaused) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.RedirectedRequestID != "" {
		return v.redirect != ""
	}
	if v.leadings >= maxLeads || v.loads == 0 || e.Request.URL == v.url || v.settled || e.Request.Method != http.MethodGet || e.Request.URL != v.leads {
		v.kept = e.Request.URL
		return false
	}
	v.leadings++
	v.redirect = e.Request.URL
	time.AfterFunc(leadTime, v.leave)
	return true
}

// leadTime is how long the document that a page leads to is waited for, to see whether it is one.
const leadTime = 3 * time.Second

// leave ends the visit of a page that leads elsewhere, unless it stays after all.
func (v leading) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.redirect != "" {
		v.stop(errRedirected)
	}
}

// answered decides by the answer whether the page leads elsewhere, or stays as nothing else is to be shown.
func (v leading) answered(e *fetch.EventRequestPaused) {
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
		v.stay(!empty)
	case empty:
		v.stop(errHalfRead)
	default:
		v.leave()
	}
	go v.tab.do(fetch.FailRequest(e.RequestID, network.ErrorReasonAborted))
}

// isRead reports whether the document was read to its end. Where it leads elsewhere before that, the browser reads no further.
func (v leading) isRead() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.reached[eventDOM]
}

// stay has the page not lead elsewhere. What it leads to may be of interest.
func (v leading) stay(linked bool) {
	v.mu.Lock()
	url := v.redirect
	v.redirect = ""
	v.reach()
	v.mu.Unlock()
	if linked {
		v.opens(url)
	}
}
