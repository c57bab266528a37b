package httpclient

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
	"seine/pkg/messages"
)

// exchange is one request in flight.
type exchange struct {
	c   *Client
	ask *Request
	access
	pool  *pool
	ctx   context.Context
	watch *deadlineTimer
	reply *Reply
	sent  *http.Request
	tries int // attempts to get a connection
	conns int // connections that the request was given to
	wire  wireReader
	// decoded means that the kept body has its content codings removed.
	decoded bool
	notes   *wireCapture
	span    *exchangeSpan
	err     error // the body could not be stored, or ErrNotSent
}

// exchange sends the request over the connections of a transportKey, and reads the response.
func (c *Client) exchange(ctx context.Context, a *Request, acc access, key transportKey) (*Reply, error) {
	inFlight.Inc()
	defer inFlight.Dec()
	ctx, span := beginExchange(ctx, a.URL, acc.method())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total := (&Failure{Class: messages.Timeout}).in(messages.DetailTotal)
	if a.Timeout > 0 {
		total.Text = "not done within " + a.Timeout.String()
	}
	watch := newDeadlineTimer(cancel, a.Timeout, total)
	defer watch.stop()
	x := &exchange{
		c: c, ask: a, access: acc, pool: c.pools.pool(key), ctx: ctx, watch: watch, span: span,
		reply: &Reply{URL: a.URL, Cookie: acc.cookie, hidden: acc.hidden, Started: time.Now(), loan: c.memory.lend()},
	}
	x.run()
	elapsed := time.Since(x.reply.Started)
	x.reply.Timings.Total = messages.Millis(elapsed)
	x.reply.BytesWire = x.wire.n
	x.reply.Text = x.hidden.text(x.reply.Text)
	span.end(x.reply)
	requestSeconds.Observe(elapsed.Seconds())
	wireBytes.Add(float64(x.wire.n))
	if x.err != nil {
		x.reply.Release()
	}
	return x.reply, x.err
}

// run does the exchange and stores its outcome in the reply.
func (x *exchange) run() {
	resp, err := x.send()
	if err != nil && errors.Is(context.Cause(x.ctx), ErrNotSent) {
		x.err = ErrNotSent
		return
	}
	if err != nil {
		x.reply.Failed(failureOf(x.ctx, err, networkFailure))
		return
	}
	defer func() { _ = resp.Body.Close() }()
	x.head(resp)
	challengeCheck{x}.blocked(resp)
	if x.reply.Class != messages.OK {
		exchangeArchive{x}.readAnswer(resp)
		challengeCheck{x}.blockedError(resp)
		exchangeArchive{x}.archiveAnswer(resp)
		x.discard(resp)
		return
	}
	f := x.read(resp)
	if f == nil {
		challengeCheck{x}.blockedBody()
	}
	switch {
	case x.reply.Class == messages.Blocked:
		x.reply.Answer, x.reply.Body = x.reply.Body.Data, Body{}
		exchangeArchive{x}.archiveAnswer(resp)
	case f == nil:
		exchangeArchive{x}.write(resp)
	case f.Class == messages.UnsupportedType:
		x.discard(resp)
		fallthrough
	default:
		x.reply.Failed(f)
		x.reply.Body = Body{}
		exchangeArchive{x}.keepRest(resp, f)
	}
}

func (x *exchange) send() (*http.Response, error) {
	req := x.request()
	x.sent = req
	return x.pool.send(x.ctx, req, &httptrace.ClientTrace{GetConn: x.getConn, GotConn: x.gotConn})
}

// maxTries bounds how often one request looks for a connection: while a server closes each one, or
// accepts no stream on it, net/http would open new ones without end in HTTP/2.
const maxTries = 4

var errTried = Failf(messages.ConnectFailure, "the server gave up %d connections without a response", maxTries).in(messages.DetailReset)

// getConn is called when the request looks for a connection.
func (x *exchange) getConn(string) {
	if x.tries++; x.tries > maxTries {
		x.watch.cancel(errTried)
	}
}

// gotConn is called, by the goroutine of send, when the request is given to a connection. A second
// call means that the server had closed the first one. net/http would resend at once; but the
// server may have seen the request, so the host's delay is kept first.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.conns++
	if rest := x.ask.Spacing; x.conns > 1 && rest > 0 {
		x.watch.pause()
		_ = Timed(waitHost, func() error { return sleep.For(x.ctx, rest) }) // send notices that ctx is done
	}
	if c, ok := info.Conn.(*conn); ok && info.Reused { // HTTP/2 assigns responses to requests itself
		c.awaitReadLoop(x.ctx)
	}
	if x.ask.StillValid != nil && !x.ask.StillValid() {
		x.abortBeforeSend(info)
		return
	}
	x.learn(info)
	if x.span != nil {
		x.span.connected = time.Now()
	}
	exchangeArchive{x}.takeNotes(info)
	x.watch.phase(time.Duration(x.c.cfg.FirstByteTimeout), x.c.noFirstByte)
}

// abortBeforeSend prevents the request from being sent. With HTTP/1.1, net/http writes it unless
// the connection is closed; HTTP/2 checks the context first, and shares the connection with other
// requests.
func (x *exchange) abortBeforeSend(info httptrace.GotConnInfo) {
	x.watch.cancel(ErrNotSent)
	if t, ok := info.Conn.(*tls.Conn); ok && t.ConnectionState().NegotiatedProtocol == "h2" {
		return
	}
	_ = info.Conn.Close()
}

// learn records the address and the timings of the connection.
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
	r.IP = opened.ip
	if !info.Reused {
		r.Timings.DNS, r.Timings.Connect = messages.Millis(opened.dns), messages.Millis(opened.connect)
		r.Timings.TLS = messages.Millis(opened.tls)
	}
}

// head reads the status and the header of the response.
func (x *exchange) head(resp *http.Response) {
	r := x.reply
	r.Timings.FirstByte = messages.Millis(time.Since(r.Started))
	r.Status, r.Header, r.Protocol = resp.StatusCode, resp.Header, resp.Proto
	r.Class, r.Text = classOf(resp.StatusCode, resp.Header)
	if why := x.profile.withheldFrom(x.ask.URL); why != "" && (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden) {
		r.Text += "; " + why
	}
	if x.profile.cookies {
		x.c.cookies.Set(x.ask.CookieJar, x.ask.URL, resp.Header["Set-Cookie"])
	}
	if f := x.hidden.header(resp.Header); f != nil && r.Class == messages.Redirect {
		if r.Failed(f); x.ask.Robots {
			r.Class = messages.ProtocolError // an invalid redirect would mean that there is no robots.txt
		}
	}
	r.ContentType = truncate.To(strings.Join(resp.Header["Content-Type"], ", "), messages.MaxText)
	switch {
	case r.Class == messages.NotModified && !x.ask.conditional():
		r.Failed(errNotAsked)
	case r.Class == messages.NotModified, r.Class == messages.OK:
		r.ETag, r.LastModified = validator(r.Header, "Etag"), validator(r.Header, "Last-Modified")
	}
	if r.Status == http.StatusProxyAuthRequired && x.pool.dialer.proxy != nil {
		r.Failed(Failf(messages.ProxyFailure, "proxy %s: answered %s", x.pool.dialer.proxy.Host, resp.Status))
	}
	if r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable {
		r.RetryAfter = retryAfter(resp.Header, time.Now())
	}
}

var errNotAsked = Failf(messages.ClientError, "304 Not Modified, though the request had no condition")

// validator returns a field that a later request can be conditional on, "" if it is missing or
// cannot be stored.
func validator(h http.Header, name string) string {
	v := h.Get(name)
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if len(v) > messages.MaxValidator || !utf8.ValidString(v) || strings.ContainsFunc(v, control) {
		return ""
	}
	return v
}
