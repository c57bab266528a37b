package fetcher

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"
	"unicode/utf8"

	"seine/internal/base/sleep"
	"seine/internal/base/truncate"
	"seine/internal/base/weburl"
	"seine/internal/fetch/cookies"
	"seine/pkg/messages"
)

// client makes one HTTP exchange at a time for each caller. It follows no
// redirect.
type client struct {
	cfg     Config
	accepts accepts
	pace    *rateLimiter
	memory  *memoryLimiter
	ways    *transportPools
	cookies *cookies.Store
	bodies  *bodyStore

	// What the watch cancels an exchange with.
	noFirstByte, stalled *failure
}

var _ exchanger = (*client)(nil)

func newClient(cfg Config) (*client, error) {
	p, err := newRateLimiter(cfg)
	if err != nil {
		return nil, err
	}
	r, err := newResolver(cfg)
	if err != nil {
		return nil, err
	}
	idle, err := cfg.idleConns()
	if err != nil {
		return nil, err
	}
	return &client{
		cfg: cfg, accepts: accepts(cfg.Accept), pace: p, ways: newTransportPools(cfg, r, idle),
		cookies:     cookies.NewStore(cookies.DefaultBytes),
		memory:      newMemoryLimiter(int64(cfg.MaxInFlightBody), cfg.Workers),
		noFirstByte: fail(messages.Timeout, "no response within %s of the connection", cfg.FirstByteTimeout).in(messages.DetailFirstByte),
		stalled:     fail(messages.Stalled, "the body stopped coming for %s", cfg.StallTimeout),
	}, nil
}

func (c *client) close() { c.ways.close() }

// exchange is one request under way.
type exchange struct {
	c     *client
	ask   *fetchRequest
	pool  *pool
	ctx   context.Context
	watch *deadlineTimer
	reply *fetchReply
	sent  *http.Request
	tries int // to have a connection
	conns int // that the request was given to
	wire  wireReader
	// decoded says that the body that is kept has its content codings undone.
	decoded bool
	notes   *wireCapture
	span    *exchangeSpan
	err     error // what was fetched could not be stored, or errStaleClaim
}

// errStaleClaim is the end of a request that was not sent, since it may not be this
// process's any more.
var errStaleClaim = errors.New("not sent: another fetcher may have the request by now")

// do is of getter. It works out the access of the URL itself, so that none can
// be left from a URL before.
func (c *client) do(ctx context.Context, a *fetchRequest) (*fetchReply, error) {
	var err error
	if a.access, err = a.plan.access(a.url, a.robots); err != nil {
		return unsent(misfit(err)), nil
	}
	a.cookie = c.cookie(a)
	if err := c.pace.request(ctx, weburl.Host(a.url), a.minSpacing()); err != nil {
		return nil, err
	}
	if len(a.profile.proxies) == 0 {
		return c.exchange(ctx, a, a.profile.way)
	}
	for try := 1; ; try++ {
		p, err := a.profile.proxy(ctx)
		if err != nil {
			return nil, err
		}
		w := a.profile.way
		w.proxy = p.key
		r, err := c.exchange(ctx, a, w)
		if err != nil {
			return nil, err
		}
		p.ended(r)
		if r.class != messages.ProxyFailure || try >= min(maxProxyTries, len(a.profile.proxies)) || ctx.Err() != nil {
			return r, nil
		}
		r.loan.release()
	}
}

// cookie returns the Cookie field that an ask with its access would be sent with.
func (c *client) cookie(a *fetchRequest) string {
	if !a.profile.cookies {
		return ""
	}
	return c.cookies.Header(a.crawl, a.url)
}

// exchange sends the request by a way, and reads the response.
func (c *client) exchange(ctx context.Context, a *fetchRequest, w transportKey) (*fetchReply, error) {
	inFlight.Inc()
	defer inFlight.Dec()
	ctx, span := beginExchange(ctx, a)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total := (&failure{class: messages.Timeout}).in(messages.DetailTotal)
	if a.timeout > 0 {
		total.text = "not done within " + a.timeout.String()
	}
	watch := newDeadlineTimer(cancel, a.timeout, total)
	defer watch.stop()
	x := &exchange{
		c: c, ask: a, pool: c.ways.pool(w), ctx: ctx, watch: watch, span: span,
		reply: &fetchReply{started: time.Now(), loan: c.memory.lend()},
	}
	x.run()
	elapsed := time.Since(x.reply.started)
	x.reply.timings.Total = messages.Millis(elapsed)
	x.reply.bytesWire = x.wire.n
	x.reply.text = a.hidden().text(x.reply.text)
	span.end(x.reply)
	requestSeconds.Observe(elapsed.Seconds())
	wireBytes.Add(float64(x.wire.n))
	if x.err != nil {
		x.reply.loan.release()
	}
	return x.reply, x.err
}

// run does the exchange and leaves its end in the reply.
func (x *exchange) run() {
	resp, err := x.send()
	if err != nil && errors.Is(context.Cause(x.ctx), errStaleClaim) {
		x.err = errStaleClaim
		return
	}
	if err != nil {
		x.reply.failed(failureOf(x.ctx, err))
		return
	}
	defer func() { _ = resp.Body.Close() }()
	x.head(resp)
	x.blocked(resp)
	if x.reply.class != messages.OK {
		x.readAnswer(resp)
		x.blockedError(resp)
		x.archiveAnswer(resp)
		x.discard(resp)
		return
	}
	f := x.read(resp)
	if f == nil {
		x.blockedBody()
	}
	switch {
	case x.reply.class == messages.Blocked:
		x.reply.answer, x.reply.body = x.reply.body.data, body{}
		x.archiveAnswer(resp)
	case f == nil:
		x.archive(resp)
	case f.class == messages.UnsupportedType:
		x.discard(resp)
		fallthrough
	default:
		x.reply.failed(f)
		x.reply.body = body{}
	}
}

func (x *exchange) send() (*http.Response, error) {
	req := x.request()
	x.sent = req
	if p := x.pool.dialer.proxy; p != nil && p.Scheme == "http" {
		if err := x.pool.dialer.checkTarget(x.ctx, hostPort(req.URL)); err != nil {
			return nil, err
		}
		if req.URL.Scheme == "http" {
			absolute(req.URL)
		}
	}
	trace := &httptrace.ClientTrace{GetConn: x.getConn, GotConn: x.gotConn}
	return x.pool.RoundTrip(req.WithContext(httptrace.WithClientTrace(x.ctx, trace)))
}

// maxTries bounds how often one request looks for a connection: while a server
// gives up each, or lets no stream into it, net/http opens new ones for ever in
// HTTP/2.
const maxTries = 4

var errTried = fail(messages.ConnectFailure, "the server gave up %d connections without a response", maxTries).in(messages.DetailReset)

// getConn is called when the request looks for a connection.
func (x *exchange) getConn(string) {
	if x.tries++; x.tries > maxTries {
		x.watch.cancel(errTried)
	}
}

// gotConn is called, by the goroutine of send, when the request is given to a
// connection. A second time means that the first one had been closed by the
// server. net/http would send again at once; but the server may have seen the
// request, so the host rests first.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.conns++
	if rest := x.ask.minSpacing(); x.conns > 1 && rest > 0 {
		x.watch.pause()
		_ = timed(waitHost, func() error { return sleep.For(x.ctx, rest) }) // send sees that ctx is done
	}
	if c, ok := info.Conn.(*conn); ok && info.Reused { // HTTP/2 tells by itself whose an answer is
		c.awaitReadLoop(x.ctx)
	}
	if x.ask.stillValid != nil && !x.ask.stillValid() {
		x.abortBeforeSend(info)
		return
	}
	x.learn(info)
	if x.span != nil {
		x.span.connected = time.Now()
	}
	x.takeNotes(info)
	x.watch.phase(time.Duration(x.c.cfg.FirstByteTimeout), x.c.noFirstByte)
}

// abortBeforeSend keeps the request from being sent. Net/http writes it all the same,
// unless the connection is closed; HTTP/2 looks first, and has other requests there.
func (x *exchange) abortBeforeSend(info httptrace.GotConnInfo) {
	x.watch.cancel(errStaleClaim)
	if t, ok := info.Conn.(*tls.Conn); ok && t.ConnectionState().NegotiatedProtocol == "h2" {
		return
	}
	_ = info.Conn.Close()
}

// learn takes note of what it took to open the connection.
func (x *exchange) learn(info httptrace.GotConnInfo) {
	var opened *conn
	switch c := info.Conn.(type) {
	case *conn:
		opened = c
	case *tls.Conn:
		opened, _ = c.NetConn().(*conn)
	}
	if opened == nil {
		return
	}
	r := x.reply
	r.ip = opened.ip
	if !info.Reused {
		r.timings.DNS, r.timings.Connect = messages.Millis(opened.dns), messages.Millis(opened.connect)
		r.timings.TLS = messages.Millis(opened.tls)
	}
}

// head reads what comes before the body.
func (x *exchange) head(resp *http.Response) {
	r := x.reply
	r.timings.FirstByte = messages.Millis(time.Since(r.started))
	r.status, r.header, r.protocol = resp.StatusCode, resp.Header, resp.Proto
	r.class, r.text = classOf(resp.StatusCode, resp.Header)
	if why := x.ask.withheld(); why != "" && (r.status == http.StatusUnauthorized || r.status == http.StatusForbidden) {
		r.text += "; " + why
	}
	if x.ask.profile.cookies {
		x.c.cookies.Set(x.ask.crawl, x.ask.url, resp.Header["Set-Cookie"])
	}
	if f := x.ask.hidden().header(resp.Header); f != nil && r.class == messages.Redirect {
		if r.failed(f); x.ask.robots {
			r.class = messages.ProtocolError // there is a robots.txt, which is not to be had: see verdict
		}
	}
	r.contentType = truncate.To(strings.Join(resp.Header["Content-Type"], ", "), messages.MaxText)
	switch {
	case r.class == messages.NotModified && !x.ask.conditional():
		r.failed(errNotAsked)
	case r.class == messages.NotModified, r.class == messages.OK:
		r.etag, r.lastModified = validator(r.header, "Etag"), validator(r.header, "Last-Modified")
	}
	if r.status == http.StatusProxyAuthRequired && x.pool.dialer.proxy != nil {
		r.failed(fail(messages.ProxyFailure, "proxy %s: answered %s", x.pool.dialer.proxy.Host, resp.Status))
	}
	if r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable {
		r.retryAfter = retryAfter(resp.Header, time.Now())
	}
}

var errNotAsked = fail(messages.ClientError, "304 Not Modified, though the request had no condition")

// validator returns a field that a later request can be conditional on, "" if
// there is none or it cannot travel.
func validator(h http.Header, name string) string {
	v := h.Get(name)
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if len(v) > messages.MaxValidator || !utf8.ValidString(v) || strings.ContainsFunc(v, control) {
		return ""
	}
	return v
}
