package fetcher

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"seine/internal/netguard"
	"seine/internal/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// client makes one HTTP exchange at a time for each caller. It follows no
// redirect, keeps no cookie and uses no proxy.
type client struct {
	cfg      Config
	accepts  accepts
	pace     *pace
	memory   *memory
	resolver *resolver
	tls      *tls.Config
	public   *http.Transport // refuses special addresses
	private  *http.Transport // for crawls that may go to private ones
	header   atomic.Pointer[requestHeader]

	// What the watch cancels an exchange with.
	noFirstByte, stalled *failure
}

// requestHeader is shared by the requests of one user agent: net/http only
// reads it.
type requestHeader struct {
	agent string
	http.Header
}

// Bounds of the connections kept.
const (
	maxIdleConns    = 1024
	idleConnTimeout = time.Minute
	maxTLSSessions  = 1024
)

func newClient(cfg Config) (*client, error) {
	p, err := newPace(cfg)
	if err != nil {
		return nil, err
	}
	r, err := newResolver(time.Duration(cfg.DialTimeout))
	if err != nil {
		return nil, err
	}
	c := &client{
		cfg: cfg, accepts: accepts(cfg.Accept), pace: p, resolver: r,
		memory: newMemory(int64(cfg.MaxInFlightBody), cfg.Workers),
		tls: &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			ClientSessionCache: tls.NewLRUClientSessionCache(maxTLSSessions),
		},
		noFirstByte: fail(messages.Timeout, "no response within %s of the connection", cfg.FirstByteTimeout),
		stalled:     fail(messages.Stalled, "the body stopped coming for %s", cfg.StallTimeout),
	}
	c.public = c.transport(netguard.New(nil, false))
	c.private = c.transport(netguard.New(nil, true))
	return c, nil
}

func (c *client) transport(g *netguard.Guard) *http.Transport {
	d := newDialer(c.cfg, c.resolver, g, c.tls)
	return &http.Transport{
		DialContext: d.plain, DialTLSContext: d.secure, ForceAttemptHTTP2: true,
		DisableCompression: true, MaxResponseHeaderBytes: int64(c.cfg.MaxHeader),
		MaxIdleConns: maxIdleConns, MaxIdleConnsPerHost: c.cfg.MaxIdlePerHost, IdleConnTimeout: idleConnTimeout,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
}

func (c *client) close() {
	c.public.CloseIdleConnections()
	c.private.CloseIdleConnections()
}

// ask is what an exchange is to be.
type ask struct {
	url     string // canonical
	agent   string
	private bool          // may go to private addresses
	delay   time.Duration // of the host
	timeout time.Duration
	maxBody int64
	// interval is the least time between the starts of two requests to the host.
	interval time.Duration
	// etag and lastModified make the request conditional, if they are set.
	etag, lastModified string
	// once is set where the host must see the request no more than once.
	once bool
	// robots is set for a robots.txt: of any type, and cut where it is too long.
	robots bool
}

// rest is the least time from the start of a request to that of the next one
// to the host.
func (a *ask) rest() time.Duration { return max(a.delay, a.interval) }

// conditional reports whether the answer may be that nothing has changed.
func (a *ask) conditional() bool { return a.etag != "" || a.lastModified != "" }

// reply is how an exchange ended.
type reply struct {
	class       messages.Class
	text        string // what is not well, for a person
	status      int
	header      http.Header
	contentType string // as it came, else as it looks
	body        []byte // decoded; only if class is OK
	bytesWire   int64
	started     time.Time
	timings     messages.Timings
	ip          string
	protocol    string
	retryAfter  time.Duration
	// Validators as they came, and the digest of body.
	etag, lastModified, digest string

	loan loan // of body; release when that is no longer used
}

func (r *reply) failed(f *failure) { r.class, r.text = f.class, f.text }

// exchange is one request under way.
type exchange struct {
	c     *client
	ask   *ask
	ctx   context.Context
	watch *watch
	reply *reply
	conns int // that the request was given to
	wire  wire
}

// do sends the request when its turn has come, and reads the response. It
// returns an error only if ctx is done before the request could be sent; one
// that is done later makes a failure, which the caller must not believe.
func (c *client) do(ctx context.Context, a *ask) (*reply, error) {
	if err := c.pace.request(ctx, weburl.Host(a.url), a.rest()); err != nil {
		return nil, err
	}
	inFlight.Inc()
	defer inFlight.Dec()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	total := &failure{messages.Timeout, ""}
	if a.timeout > 0 {
		total.text = "not done within " + a.timeout.String()
	}
	w := newWatch(cancel, a.timeout, total)
	defer w.stop()
	x := &exchange{c: c, ask: a, ctx: ctx, watch: w, reply: &reply{started: time.Now(), loan: c.memory.lend()}}
	x.run()
	elapsed := time.Since(x.reply.started)
	x.reply.timings.Total = messages.Millis(elapsed)
	x.reply.bytesWire = x.wire.n
	requestSeconds.Observe(elapsed.Seconds())
	wireBytes.Add(float64(x.wire.n))
	return x.reply, nil
}

// run does the exchange and leaves its end in the reply.
func (x *exchange) run() {
	resp, err := x.send()
	if err != nil {
		x.reply.failed(failureOf(x.ctx, err))
		return
	}
	defer func() { _ = resp.Body.Close() }()
	x.head(resp)
	if x.reply.class != messages.OK {
		x.discard(resp)
		return
	}
	body, f := x.read(resp)
	if f != nil {
		x.reply.failed(f)
		if f.class == messages.UnsupportedType {
			x.discard(resp)
		}
		return
	}
	x.reply.body = body
}

func (x *exchange) send() (*http.Response, error) {
	trace := &httptrace.ClientTrace{GotConn: x.gotConn}
	req := &http.Request{
		Method: http.MethodGet, URL: target(x.ask.url), Header: x.header(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if x.ask.once {
		req.Body = once{} // which makes it a request that net/http does not repeat
	}
	transport := x.c.public
	if x.ask.private {
		transport = x.c.private
	}
	return transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(x.ctx, trace)))
}

// once is an empty body that cannot be read again.
type once struct{}

func (once) Read([]byte) (int, error) { return 0, io.EOF }
func (once) Close() error             { return nil }

// header returns the header of the request.
func (x *exchange) header() http.Header {
	shared := x.c.headerFor(x.ask.agent)
	if !x.ask.conditional() {
		return shared
	}
	h := maps.Clone(shared)
	if x.ask.etag != "" {
		h["If-None-Match"] = []string{x.ask.etag}
	}
	if x.ask.lastModified != "" {
		h["If-Modified-Since"] = []string{x.ask.lastModified}
	}
	return h
}

// gotConn is called, by the goroutine of send, when the request is given to a
// connection. A second time means that the first one had been closed by the
// server. net/http would send again at once; but the server may have seen the
// request, so the host rests first.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.conns++
	if rest := x.ask.rest(); x.conns > 1 && rest > 0 {
		x.watch.pause()
		_ = timed(waitHost, func() error { return stages.Sleep(x.ctx, rest) }) // send sees that ctx is done
	}
	x.learn(info)
	x.watch.phase(time.Duration(x.c.cfg.FirstByteTimeout), x.c.noFirstByte)
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
	r.contentType = clip(resp.Header.Get("Content-Type"), messages.MaxText)
	r.class, r.text = classOf(resp.StatusCode, resp.Header)
	switch {
	case r.class == messages.NotModified && !x.ask.conditional():
		r.failed(errNotAsked)
	case r.class == messages.NotModified, r.class == messages.OK:
		r.etag, r.lastModified = validator(r.header, "Etag"), validator(r.header, "Last-Modified")
	}
	if r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable {
		r.retryAfter = retryAfter(resp.Header, time.Now())
	}
}

var errNotAsked = &failure{messages.ClientError, "304 Not Modified, though the request had no condition"}

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

// clip is messages.Clip for text that is not meant for a person.
func clip(s string, most int) string { return s[:min(len(s), most)] }

// headerFor returns the header of requests, all of it.
func (c *client) headerFor(agent string) http.Header {
	if h := c.header.Load(); h != nil && h.agent == agent {
		return h.Header
	}
	h := &requestHeader{agent, http.Header{
		"User-Agent": {agent}, "Accept": {c.accepts.header()}, "Accept-Encoding": {acceptEncoding},
	}}
	c.header.Store(h)
	return h.Header
}

// target returns a URL that net/http sends exactly as it is. A canonical URL
// keeps characters that url.URL would encode, such as '|', and stray percent
// signs that it would refuse; Opaque goes out as it is. Only a path that starts
// with two slashes would be taken for a host there: it goes into Path, or, if
// that cannot hold it, out in absolute form, which every server must take
// (RFC 9112 3.2.2).
func target(canonical string) *url.URL {
	scheme, _, _ := strings.Cut(canonical, ":")
	u := &url.URL{Scheme: scheme, Host: weburl.Host(canonical)}
	path := weburl.Path(canonical)
	if !strings.HasPrefix(path, "//") {
		u.Opaque = path
		return u
	}
	raw, query, _ := strings.Cut(path, "?")
	if decoded, err := url.PathUnescape(raw); err == nil {
		u.Path, u.RawPath, u.RawQuery = decoded, raw, query
		if u.RequestURI() == path {
			return u
		}
	}
	return &url.URL{Scheme: scheme, Host: u.Host, Opaque: "//" + u.Host + path}
}
