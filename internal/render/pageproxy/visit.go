package pageproxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"seine/internal/render/activity"
)

// defaultPerHost is how many requests browsers have in progress to one host by
// HTTP/1.1.
const defaultPerHost = 6

// Visit is what is served between [Proxy.Begin] and [Proxy.End]. Only Transport
// is needed.
type Visit struct {
	// Main is the document of the page, which was fetched before. A navigation to exactly its URL is answered with it, also a second
	// time, and never sent to the web. A script's request for that URL is sent, as it may want another representation. Without a URL,
	// all requests are sent.
	Main Document
	// Follows says that the tab still shows the page before, whose requests must not pass. Requests wait until [Proxy.InPlace] is
	// called; those that come before Main is asked for are refused.
	Follows bool
	// Transport sends requests to the web. It must have the address guard, follow no redirects, and leave bodies in the coding in
	// which they came (DisableCompression). Errors of netguard count as refusals.
	Transport http.RoundTripper
	// Allow is asked for permission to send a request, just before. It may wait, for as long as the context lasts. The request has an
	// absolute URL, and Allow must neither change it nor read its body. An error refuses the request, and the page gets its text as
	// the reason. nil allows all.
	Allow func(ctx context.Context, r *http.Request) error
	// UserAgent is how every request presents itself, also those of windows and shared workers, which the browser sends under its own
	// name. "" leaves all as they are.
	UserAgent string
	// Record is given each exchange with the web that has ended or failed, if set; not what was refused, nor Main. It is called
	// by several goroutines at once.
	Record func(Exchange)
	// MaxRequests is how many requests may be sent to the web. 0 is no limit.
	MaxRequests int
	// MaxBytes bounds the bytes of bodies and WebSockets, of both directions together, as they pass on the wire. Bodies that reach
	// it are cut off, and the browser sees that they are. 0 is no limit.
	MaxBytes int64
	// MaxRecorded bounds the body of an exchange that Record is given, in bytes. 0 keeps none.
	MaxRecorded int64
	// PerHost is how many requests may be in progress to one host and port at once; others wait. WebSockets and
	// event streams do not count, once they are open. The default is 6.
	PerHost int
}

// visit is one that is served.
type visit struct {
	Visit
	main     atomic.Pointer[Document]
	mainURL  string // canonical, "" without a document
	ctx      context.Context
	cancel   context.CancelFunc
	tally    tally
	slots    hostSlots
	activity *activity.Activity // requests in progress, beside WebSockets and event streams that are open
	succession
	requests sync.WaitGroup // in progress

	mu            sync.Mutex
	ended         bool
	pending       context.Context // done when the requests in progress are failed
	cancelPending context.CancelCauseFunc
}

func newVisit(v Visit) *visit {
	if v.PerHost <= 0 {
		v.PerHost = defaultPerHost
	}
	begun := &visit{
		Visit: v, mainURL: canonicalURL(v.Main.URL), slots: newHostSlots(v.PerHost), activity: activity.New(),
		succession: newSuccession(!v.Follows),
		tally:      tally{maxRequests: v.MaxRequests, maxBytes: v.MaxBytes},
	}
	begun.main.Store(&v.Main)
	begun.ctx, begun.cancel = context.WithCancel(context.Background())
	begun.pending, begun.cancelPending = context.WithCancelCause(begun.ctx)
	return begun
}

// errNoEnd is why a request failed that is waited for no more.
var errNoEnd = errors.New("the answer did not come, or did not end, and the page waited for nothing else")

// failPending fails the requests in progress.
func (v *visit) failPending() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cancelPending(errNoEnd)
	v.pending, v.cancelPending = context.WithCancelCause(v.ctx)
}

func (v *visit) pendingContext() context.Context {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.pending
}

// enter reports whether a request is one of a visit that continues; leave must
// follow then. There need not be a visit.
func (v *visit) enter() bool {
	if v == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return false
	}
	v.requests.Add(1)
	return true
}

func (v *visit) leave() { v.requests.Done() }

// end lets no more requests enter, and cancels those that did.
func (v *visit) end() {
	v.mu.Lock()
	v.ended = true
	v.mu.Unlock()
	v.cancel()
}

// serve answers a request that has an absolute URL.
func (v *visit) serve(w http.ResponseWriter, r *http.Request) {
	document := v.main.Load()
	main := document != nil && v.isMain(r)
	if main {
		v.ask()
	} else if !v.isOfPage(v.ctx, r) {
		refuseOutside(w)
		return
	}
	if main { // it is here, so that only the browser that reads it waits for it
		v.tally.main()
		document.serve(w)
		return
	}
	v.activity.Begin()
	calm := sync.OnceFunc(v.activity.End)
	defer calm()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	pending := v.pendingContext()
	defer context.AfterFunc(pending, func() { cancel(context.Cause(pending)) })()
	newTransfer(v, r, calm).serve(bare{w}, r.WithContext(ctx))
}
