package httpclient

import (
	"bufio"
	"context"
	"crypto/x509"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http/httptrace"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// hostile is a malicious server, and the expected reaction of its client.
type hostile struct {
	name  string
	serve func(*peer) // nil: nobody accepts the connection from the backlog
	want  messages.Class
	or    messages.Class          // also allowed, if it depends on what the client reads first
	text  string                  // part of the text for users; if all is well, the body or the target
	set   func(*Config, *Request) // changes from the default, above all the one limit that is short
	https bool
	bulk  bool // sends or promises far more than may be kept
}

// Limits in these tests. A case that should run into one sets only that one, so that no slow
// machine runs into another limit. All others are longer than the guard, which only catches cases
// that hang.
const (
	brief   = 200 * time.Millisecond
	guard   = 10 * time.Second
	patient = 3 * guard

	hostileHeader = 16 << 10
	hostileBody   = 2 << 20
)

func shortFirstByte(c *Config, _ *Request) { c.FirstByteTimeout = crawlspec.Duration(brief) }
func shortStall(c *Config, _ *Request)     { c.StallTimeout = crawlspec.Duration(brief) }
func shortHandshake(c *Config, _ *Request) { c.TLSTimeout = crawlspec.Duration(brief) }
func shortWrite(c *Config, a *Request)     { shortFirstByte(c, a); shortStall(c, a) }
func shortTotal(_ *Config, a *Request)     { a.Timeout = brief }
func conditional(_ *Config, a *Request)    { a.ETag = `"old"` }

// hostileCases returns the cases of all files.
func hostileCases() []hostile {
	return slices.Concat(hostileHeads, hostileEnds, hostileLengths, hostileChunks, hostileCodings, hostileTLS, hostileHTTP2)
}

// TestHostileServers: whatever a server does, the exchange ends with the right class and a text
// with the reason, and leaves nothing open. It does not run in parallel with other tests, because
// it counts the open resources of the process.
func TestHostileServers(t *testing.T) {
	log.SetOutput(io.Discard) // net/http logs unsolicited data
	defer log.SetOutput(os.Stderr)
	before := openNow(t)
	t.Run("servers", func(t *testing.T) {
		for _, h := range hostileCases() {
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				h.run(t)
			})
		}
	})
	before.wantBack(t)
}

// TestHostileServersGetLittleMemory: data without end is not collected, and no memory is reserved
// for promised data.
func TestHostileServersGetLittleMemory(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	const most = 16 * hostileBody // a buffer that doubles, and the tables of decoders
	bombs()
	for _, h := range hostileCases() {
		if !h.bulk {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			h.run(t)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > most {
				t.Errorf("%d MiB for a body of at most %d MiB", took>>20, hostileBody>>20)
			}
		})
	}
}

// run lets the server do its worst once, then checks that the client hangs up.
func (h hostile) run(t *testing.T) {
	seen := make(chan struct{})
	srv := newHostileListener(t, h.serve, seen)
	c, a := h.client(t, srv)
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotFirstResponseByte: sync.OnceFunc(func() { close(seen) })})
	h.check(t, exchangeWithin(t, ctx, c, a))
	srv.wantLeft(t, c)
	if srv.accepted > maxTries+1 { // one may be in progress when the request is abandoned
		t.Errorf("%d connections for one request", srv.accepted)
	}
}

func (h hostile) client(t *testing.T, srv *hostileListener) (*Client, *Request) {
	a := hostileAsk(srv.url("http", "/"))
	cfg := hostileConfig()
	if h.https {
		a.URL = srv.url("https", "/")
	}
	if h.set != nil {
		h.set(&cfg, a)
	}
	return newTestClient(t, cfg), a
}

func hostileConfig() Config {
	cfg := defaultConfig()
	cfg.DialTimeout, cfg.TLSTimeout = crawlspec.Duration(patient), crawlspec.Duration(patient)
	cfg.FirstByteTimeout, cfg.StallTimeout = crawlspec.Duration(patient), crawlspec.Duration(patient)
	cfg.MaxHeader = hostileHeader
	return cfg
}

func hostileAsk(url string) *Request {
	return &Request{URL: url, Policy: privatePolicy, Timeout: patient, MaxBody: hostileBody}
}

// newTestClient returns a client that trusts only the authority of these tests.
func newTestClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.pools.tls.RootCAs = x509.NewCertPool()
	c.pools.tls.RootCAs.AddCert(authority().cert)
	t.Cleanup(c.Close)
	return c
}

// exchangeWithin does the exchange, and fails if the guard has to end it.
func exchangeWithin(t *testing.T, ctx context.Context, c *Client, a *Request) *Reply {
	t.Helper()
	done := make(chan *Reply, 1)
	go func() {
		r, err := c.Do(ctx, a)
		if err != nil {
			t.Errorf("the request was not sent: %v", err)
		}
		done <- r
	}()
	select {
	case r := <-done:
		if r == nil {
			t.FailNow()
		}
		r.Release()
		return r
	case <-time.After(guard):
		t.Fatalf("hangs, with a total timeout of %s", a.Timeout)
		return nil
	}
}

func (h hostile) check(t *testing.T, r *Reply) {
	t.Helper()
	class, text := r.Class, r.Text
	switch class {
	case messages.OK:
		if text = string(r.Body.Data); text != h.text {
			t.Errorf("body %.100q, want %.100q", text, h.text)
		}
	case messages.Redirect:
		class, text = redirectEnd(r)
	}
	if class != h.or && (class != h.want || !strings.Contains(text, h.text)) {
		t.Errorf("class %s (%.300q), want %s with %q", class, text, h.want, h.text)
	}
	if class != messages.OK && class != messages.NotModified {
		t.Logf("%s: %.200s", class, text)
		if text == "" {
			t.Error("no words for a person")
		}
	}
	if r.BytesWire > hostileBody+drainBytes+1<<20 {
		t.Errorf("%d bytes were read", r.BytesWire)
	}
}

// redirectEnd returns the outcome of a redirect as a fetcher determines it.
func redirectEnd(r *Reply) (messages.Class, string) {
	target, err := r.Target()
	if err != nil {
		return messages.ClientError, "redirect without a valid target: " + err.Error()
	}
	return messages.Redirect, target
}

// hostileListener is a listener that passes each connection to a hostile server.
type hostileListener struct {
	net.Listener
	accepting, conns sync.WaitGroup
	accepted         int // read it only when accepting is over
}

// peer is a server's end of one connection, for any use; it is closed when the server returns.
type peer struct {
	net.Conn // raw, or the TLS session over it
	in       *bufio.Reader
	tcp      *net.TCPConn
	line     string          // of the latest request
	seen     <-chan struct{} // closed when the client has read the first byte of a response
	cut      <-chan struct{} // closed when the test is abandoned
}

func newHostileListener(t *testing.T, serve func(*peer), seen <-chan struct{}) *hostileListener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(context.Background())
	s := &hostileListener{Listener: l}
	if serve != nil {
		s.accepting.Go(func() { s.accept(ctx, serve, seen) })
	}
	t.Cleanup(func() { s.stop(); cut(); s.conns.Wait() })
	return s
}

// stop accepts no more connections.
func (l *hostileListener) stop() {
	_ = l.Close()
	l.accepting.Wait()
}

func (l *hostileListener) accept(ctx context.Context, serve func(*peer), seen <-chan struct{}) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		l.accepted++
		p := &peer{Conn: c, in: bufio.NewReader(c), tcp: c.(*net.TCPConn), seen: seen, cut: ctx.Done()}
		l.conns.Go(func() {
			forget := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer forget()
			defer c.Close()
			serve(p)
		})
	}
}

func (l *hostileListener) url(scheme, path string) string {
	return scheme + "://" + l.Addr().String() + path
}

// wantLeft fails unless a closed client hangs up on all remaining connections. It closes idle ones,
// since a connection may become idle only later.
func (l *hostileListener) wantLeft(t *testing.T, c *Client) {
	t.Helper()
	l.stop()
	left := make(chan struct{})
	go func() { l.conns.Wait(); close(left) }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(guard); time.Now().Before(deadline); {
		c.Close()
		select {
		case <-left:
			return
		case <-tick.C:
		}
	}
	t.Error("the client does not hang up")
}

// request reads the header of a request.
func (p *peer) request() bool {
	p.line = ""
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return false
		}
		if line == "\r\n" {
			return true
		}
		if p.line == "" {
			p.line = line
		}
	}
}

func (p *peer) say(text string) bool {
	_, err := io.WriteString(p.Conn, text)
	return err == nil
}

// wait waits for the client to hang up.
func (p *peer) wait() { _, _ = io.Copy(io.Discard, p.in) }

// waitSeen waits until the client has read the beginning of the response, which a reset would
// discard.
func (p *peer) waitSeen() {
	select {
	case <-p.seen:
	case <-p.cut:
	}
}

// repeat sends text until the client hangs up.
func (p *peer) repeat(text string) {
	for p.say(text) {
		continue
	}
}

// drip sends text byte by byte.
func (p *peer) drip(text string) bool {
	tick := time.NewTicker(brief / 20)
	defer tick.Stop()
	for i := range len(text) {
		select {
		case <-tick.C:
		case <-p.cut:
			return false
		}
		if !p.say(text[i : i+1]) {
			return false
		}
	}
	return true
}

// reset ends the connection with RST instead of FIN.
func (p *peer) reset() {
	_ = p.tcp.SetLinger(0)
	_ = p.tcp.Close()
}

// Servers that most cases consist of.

// says responds with text and hangs up.
func says(text string) func(*peer) {
	return func(p *peer) {
		if p.request() && p.say(text) {
			_ = p.tcp.CloseWrite()
			p.wait()
		}
	}
}

// holds responds with text and keeps the connection open.
func holds(text string) func(*peer) {
	return func(p *peer) {
		if p.request() && p.say(text) {
			p.wait()
		}
	}
}

// floods responds with head, then with more until the client hangs up.
func floods(head, more string) func(*peer) {
	more = strings.Repeat(more, 1+4096/len(more))
	return func(p *peer) {
		if p.request() && p.say(head) {
			p.repeat(more)
		}
	}
}

// drips responds with head, then with text byte by byte, again and again.
func drips(head, text string) func(*peer) {
	return func(p *peer) {
		if !p.request() || !p.say(head) {
			return
		}
		for p.drip(text) {
			continue
		}
	}
}

// resets responds with text and resets the connection when the text was read.
func resets(text string) func(*peer) {
	return func(p *peer) {
		if !p.request() || !p.say(text) {
			return
		}
		if text != "" {
			p.waitSeen()
		}
		p.reset()
	}
}

// open is the number of open resources of a process.
type open struct{ goroutines, files int }

func openNow(t *testing.T) open {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the first one opens the poller, which stays open
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return count(t)
}

func count(t *testing.T) open {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("counting open files needs Linux: %v", err)
	}
	return open{runtime.NumGoroutine(), len(files)}
}

// wantBack waits until no more is open than before.
func (o open) wantBack(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(guard); ; <-tick.C {
		now := count(t)
		if now.goroutines <= o.goroutines && now.files <= o.files {
			return
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("left open: %+v, before: %+v\n%s", now, o, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
