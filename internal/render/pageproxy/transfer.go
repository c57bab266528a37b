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

// errGaveUp is the reason of an incomplete exchange without another.
var errGaveUp = errors.New("the browser gave it up")

// transfer is a request of the browser on its way to the web and back.
type transfer struct {
	visit    *visit
	url      string
	target   string // path and query as the browser wrote them
	giveBack func() // the slot of the host; nil before it is taken
	calm     func() // it counts no more as in progress

	mu       sync.Mutex // a transport may still read the request when its response is there
	exchange Exchange
	sent     bool
	whole    bool // the response was read to its end
	ended    bool
}

func newTransfer(v *visit, r *http.Request, calm func()) *transfer {
	return &transfer{visit: v, calm: calm, url: rawURL(r.URL, r.RequestURI), target: rawTarget(r.RequestURI)}
}

// serve forwards the request, and has it recorded.
func (t *transfer) serve(w http.ResponseWriter, r *http.Request) {
	forward := httputil.ReverseProxy{
		Rewrite: keepAsIs, Transport: t, ErrorHandler: t.fail, ModifyResponse: clean,
		FlushInterval: -1, BufferPool: buffers, ErrorLog: discard,
	}
	defer t.end(r.Context())
	forward.ServeHTTP(w, r)
}

// keepAsIs puts back what ReverseProxy takes out.
func keepAsIs(p *httputil.ProxyRequest) {
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := p.In.Header[name]; ok {
			p.Out.Header[name] = values
		}
	}
	p.Out.RequestURI = ""
}

// clean takes out what a site must not tell the browser: a way past the proxy, what only the proxy says, and that it should
// ask a user for a password, which it would wait for.
func clean(res *http.Response) error {
	res.Header.Del("Www-Authenticate")
	res.Header.Del("Alt-Svc")
	res.Header.Del(refusedField)
	return nil
}

// RoundTrip sends a request when it may be sent.
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

// admit waits until the request may be sent, or says why it may not. The
// slot comes before permission, so that a request is sent at the very time for which the pace permits it.
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

// over says that the response is not needed any more. The end of the visit
// reaches the context of its requests a little later: a slot that one gives back in between
// must not let another begin.
func (t *transfer) over(ctx context.Context) error {
	return cmp.Or(t.visit.ctx.Err(), context.Cause(ctx))
}

// begin notes what is sent, and prepares it.
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
		out.URL.Opaque = t.target // goes out as it is
	}
	return out.WithContext(httptrace.WithClientTrace(out.Context(), &httptrace.ClientTrace{GotConn: t.gotConn}))
}

// setUserAgent gives a request the user agent of the visit, and removes client hints, which would contradict it.
func (v *visit) setUserAgent(h http.Header) {
	if v.UserAgent == "" || h.Get("User-Agent") == v.UserAgent {
		return
	}
	h.Set("User-Agent", v.UserAgent)
	maps.DeleteFunc(h, func(name string, _ []string) bool { return strings.HasPrefix(name, "Sec-Ch-") })
}

// startsLikeHost is true of a path that in url.URL.Opaque would be taken for a host.
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

// answered notes the response, and has its body counted.
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

// isEventStream is true of a response that has no end, as a rule.
func isEventStream(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// fail answers a request that got no response. The page is not told why one
// failed: that could tell it about the operator's network.
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
		panic(http.ErrAbortHandler) // nothing waits for an answer
	}
	answer(w, http.StatusBadGateway, "the site cannot be reached")
}

// broke notes the first error.
func (t *transfer) broke(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exchange.Err == nil {
		t.exchange.Err = err
	}
}

// end gives the slot back, counts what went wrong, and has the exchange
// recorded. What a transport still reads or writes after that is of no interest.
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

// result closes the books of the exchange.
func (t *transfer) result(ctx context.Context) (x Exchange, sent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	x = t.exchange
	if t.whole && errors.Is(x.Err, errGaveUp) {
		x.Err = nil // of the request's body, that the site could do without
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
