package pageproxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"seine/internal/render/activity"
)

// defaultPerHost is the number of concurrent HTTP/1.1 requests of browsers to a host.
const defaultPerHost = 6

// Visit configures what is served between [Proxy.Begin] and [Proxy.End]. Only Transport is
// required.
type Visit struct {
	// Main is the document of the page, which was fetched before. A navigation to exactly its URL
	// is answered with it, every time, and never sent to the web. A script's request for that URL
	// is sent, as it may want another representation. If Main has no URL, all requests are sent.
	Main Document
	// Follows means that the tab still shows the previous page, whose requests must not pass.
	// Requests wait until [Proxy.InPlace] is called; those before the request for Main are refused.
	Follows bool
	// Transport sends requests to the web. It must have the address guard, follow no redirects, and
	// not decode bodies (DisableCompression). Errors of netguard count as refusals.
	Transport http.RoundTripper
	// Allow is called for permission just before a request is sent. It may wait as long as the
	// context lasts. The request has an absolute URL, and Allow must neither change it nor read its
	// body. An error refuses the request, and its text is the reason for the page. If Allow is nil,
	// all requests are allowed.
	Allow func(ctx context.Context, r *http.Request) error
	// UserAgent is the user agent of every request, including those of windows and shared workers,
	// which the browser sends with its own. If it is "", requests keep theirs.
	UserAgent string
	// Record, if set, is called with each exchange with the web that has ended or failed, but not
	// with refused requests or Main. It is called concurrently.
	Record func(Exchange)
	// MaxRequests is the number of requests that may be sent to the web. 0 means no limit.
	MaxRequests int
	// MaxBytes bounds the bytes of bodies and WebSocket data, in both directions, as on the wire.
	// Bodies that reach it are cut off, and the browser detects that. 0 means no limit.
	MaxBytes int64
	// MaxRecorded bounds the body of an exchange for Record, in bytes. 0 keeps no body.
	MaxRecorded int64
	// PerHost is the number of concurrent requests to a host and port; others wait. Open WebSockets
	// and event streams do not count. The default is 6.
	PerHost int
}

// visit is a Visit in progress.
type visit struct {
	Visit
	main     atomic.Pointer[Document]
	mainURL  string // canonical; "" without a document
	ctx      context.Context
	cancel   context.CancelFunc
	tally    tally
	slots    hostSlots
	activity *activity.Activity // requests in progress, without open WebSockets and event streams
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

// errNoEnd is the error of a request that nothing waits for any more.
var errNoEnd = errors.New("the response did not arrive or end, and the page waited for nothing else")

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

// enter reports whether the visit continues, and counts a request of it; then leave must follow. v
// may be nil.
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

// end prevents further requests, and cancels those in progress.
func (v *visit) end() {
	v.mu.Lock()
	v.ended = true
	v.mu.Unlock()
	v.cancel()
}

// serve answers a request with an absolute URL.
func (v *visit) serve(w http.ResponseWriter, r *http.Request) {
	document := v.main.Load()
	main := document != nil && v.isMain(r)
	if main {
		v.ask()
	} else if !v.isOfPage(v.ctx, r) {
		refuseOutside(w)
		return
	}
	if main { // it is in memory, so only the browser's own reading takes time
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
