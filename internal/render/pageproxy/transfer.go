package pageproxy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strings"
	"sync"
	"time"
)

// errGaveUp is the reason of an incomplete exchange without another reason.
var errGaveUp = errors.New("the browser cancelled it")

// transfer is a request of the browser and its response, in transit.
type transfer struct {
	visit    *visit
	url      string
	target   string // path and query as the browser wrote them
	giveBack func() // gives back the host's slot; nil before the slot is taken
	calm     func() // the request no longer counts as in progress

	mu       sync.Mutex // a transport may still read the request when its response has arrived
	exchange Exchange
	sent     bool
	whole    bool // the response was read to its end
	ended    bool
}

func newTransfer(v *visit, r *http.Request, calm func()) *transfer {
	return &transfer{visit: v, calm: calm, url: rawURL(r.URL, r.RequestURI), target: rawTarget(r.RequestURI)}
}

// serve forwards the request and records it.
func (t *transfer) serve(w http.ResponseWriter, r *http.Request) {
	forward := httputil.ReverseProxy{
		Rewrite: keepAsIs, Transport: t, ErrorHandler: t.fail, ModifyResponse: clean,
		FlushInterval: -1, BufferPool: buffers, ErrorLog: discard,
	}
	defer t.end(r.Context())
	forward.ServeHTTP(w, r)
}

// keepAsIs restores the parts that ReverseProxy removes.
func keepAsIs(p *httputil.ProxyRequest) {
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := p.In.Header[name]; ok {
			p.Out.Header[name] = values
		}
	}
	p.Out.RequestURI = ""
}

// clean removes fields that must not reach the browser: a way around the proxy, the proxy's own
// field, and a request for a password, for which the browser would wait.
func clean(res *http.Response) error {
	res.Header.Del("Www-Authenticate")
	res.Header.Del("Alt-Svc")
	res.Header.Del(refusedField)
	return nil
}

// RoundTrip sends a request after it was admitted.
func (t *transfer) RoundTrip(out *http.Request) (*http.Response, error) {
	if err := t.admit(out); err != nil {
		return nil, err
	}
	out = t.begin(out)
	res, err := t.visit.Transport.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	t.answered(res)
	if t.visit.Record != nil && isShortRedirect(res) {
		readAhead(res)
	}
	return res, nil
}

// admit waits until the request may be sent, or returns an error if it may not. It takes the slot
// before it asks for permission, so that the request is sent at the time for which the pace permits
// it.
func (t *transfer) admit(out *http.Request) (err error) {
	if err := t.visit.tally.reserve(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			t.visit.tally.unreserve()
		}
	}()
	ctx := out.Context()
	if t.giveBack, err = t.visit.slots.take(ctx, out.URL.Host); err != nil {
		return err
	}
	if t.visit.Allow == nil {
		return t.over(ctx)
	}
	if err := t.visit.Allow(ctx, out); err != nil && t.over(ctx) == nil {
		return refusal(err.Error())
	}
	return t.over(ctx)
}

// over returns an error if the response is no longer needed. The end of the visit reaches the
// contexts of its requests a little later: a slot that is given back in between must not let
// another request begin.
func (t *transfer) over(ctx context.Context) error {
	return cmp.Or(t.visit.ctx.Err(), context.Cause(ctx))
}

// begin prepares the request and records it as sent.
func (t *transfer) begin(out *http.Request) *http.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = true
	t.exchange = Exchange{
		Method: out.Method, URL: t.url, Destination: out.Header.Get("Sec-Fetch-Dest"), Started: time.Now(),
	}
	t.visit.setUserAgent(out.Header)
	if t.visit.Record != nil {
		t.exchange.RequestHeader = out.Header.Clone()
	}
	if out.Body != nil && out.Body != http.NoBody {
		out.Body = &upload{ReadCloser: out.Body, of: t}
	}
	if out.URL.RequestURI() != t.target && !startsLikeHost(t.target) {
		out.URL.Opaque = t.target // is sent unchanged
	}
	return out.WithContext(httptrace.WithClientTrace(out.Context(), &httptrace.ClientTrace{GotConn: t.gotConn}))
}

// setUserAgent sets the user agent of the visit in a request, and removes client hints, which would
// contradict it.
func (v *visit) setUserAgent(h http.Header) {
	if v.UserAgent == "" || h.Get("User-Agent") == v.UserAgent {
		return
	}
	h.Set("User-Agent", v.UserAgent)
	maps.DeleteFunc(h, func(name string, _ []string) bool { return strings.HasPrefix(name, "Sec-Ch-") })
}

// startsLikeHost reports whether a path in url.URL.Opaque would be read as a host.
func startsLikeHost(target string) bool { return len(target) > 1 && target[1] == '/' }

func (t *transfer) gotConn(info httptrace.GotConnInfo) {
	host, _, err := net.SplitHostPort(info.Conn.RemoteAddr().String())
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exchange.Remote = host
}

// answered records the response, and counts its body.
func (t *transfer) answered(res *http.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exchange.Status, t.exchange.Proto = res.StatusCode, res.Proto
	if t.visit.Record != nil {
		t.exchange.Header = res.Header.Clone()
	}
	stream, bothWays := res.Body.(io.ReadWriteCloser)
	switch {
	case res.StatusCode == http.StatusSwitchingProtocols && bothWays:
		t.giveBack()
		t.calm()
		res.Body = &socket{ReadWriteCloser: stream, of: t}
		return
	case isEventStream(res.Header):
		t.giveBack()
		t.calm()
	}
	res.Body = &download{ReadCloser: res.Body, of: t}
}

// isEventStream reports whether a response is an event stream, which usually does not end.
func isEventStream(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// fail answers a request that got no response. It does not tell the page the reason, which could
// reveal the operator's network.
func (t *transfer) fail(w http.ResponseWriter, r *http.Request, err error) {
	if over := t.over(r.Context()); errors.Is(over, errNoEnd) {
		t.broke(over)
		answer(w, http.StatusGatewayTimeout, over.Error())
		return
	}
	t.broke(err)
	if _, told, refused := refusalOf(err); refused {
		answer(w, http.StatusForbidden, told)
		return
	}
	if t.over(r.Context()) != nil {
		panic(http.ErrAbortHandler) // nobody waits for an answer
	}
	answer(w, http.StatusBadGateway, "the site cannot be reached")
}

// broke records the first error.
func (t *transfer) broke(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exchange.Err == nil {
		t.exchange.Err = err
	}
}

// end gives the slot back, counts errors, and records the exchange. It ignores later reads and
// writes of the transport.
func (t *transfer) end(ctx context.Context) {
	if t.giveBack != nil {
		t.giveBack()
	}
	x, sent := t.result(ctx)
	reason, _, refused := refusalOf(x.Err)
	switch {
	case refused:
		t.visit.tally.refused(t.url, reason)
	case sent && (errors.Is(x.Err, errNoEnd) || x.Err != nil && t.over(ctx) == nil && !errors.Is(x.Err, errGaveUp)):
		t.visit.tally.failed(t.url, x.Err)
	case x.Status >= 400:
		t.visit.tally.errorStatus(t.url, x.Status)
	}
	if sent && isGuards(x.Err) {
		t.visit.tally.unreserve()
		return
	}
	if sent && t.visit.Record != nil {
		t.visit.Record(x)
	}
}

// result completes the exchange.
func (t *transfer) result(ctx context.Context) (x Exchange, sent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	x = t.exchange
	if t.whole && errors.Is(x.Err, errGaveUp) {
		x.Err = nil // error of the request's body, which the site did not need
	}
	if !t.whole && x.Status != http.StatusSwitchingProtocols {
		over := t.over(ctx)
		if errors.Is(over, errNoEnd) {
			x.Err = over
		}
		x.Truncated = x.Status != 0
		x.Err = cmp.Or(x.Err, over, errGaveUp)
	}
	x.Duration = time.Since(x.Started)
	return x, t.sent
}
