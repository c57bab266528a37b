package pageproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// fixture is a proxy, a test browser, and a web of two servers: for any host, "http" leads to one
// and "https" to the other.
type fixture struct {
	*Proxy
	t         *testing.T
	identity  *Identity
	browser   *http.Client
	plain     *httptest.Server
	secure    *httptest.Server
	transport *http.Transport // to the web

	mu        sync.Mutex
	exchanges []Exchange
	asked     []*http.Request // received by the servers
}

func newFixture(t *testing.T, web http.HandlerFunc) *fixture {
	t.Helper()
	f := &fixture{t: t}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r)
		f.mu.Unlock()
		web(w, r)
	})
	f.plain, f.secure = httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	f.secure.EnableHTTP2 = true
	f.secure.StartTLS()
	f.transport = f.toWeb()
	var err error
	if f.identity, err = NewIdentity(); err != nil {
		t.Fatal(err)
	}
	if f.Proxy, err = Listen(f.identity, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	f.browser = f.newBrowser()
	t.Cleanup(f.close)
	return f
}

// close ends the proxy first, since the servers wait for their clients.
func (f *fixture) close() {
	if err := f.Close(); err != nil {
		f.t.Error(err)
	}
	f.browser.CloseIdleConnections()
	f.transport.CloseIdleConnections()
	for _, s := range []*httptest.Server{f.plain, f.secure} {
		s.CloseClientConnections()
		s.Close()
	}
}

// toWeb returns a transport that connects to the servers, for any host. It trusts the certificate
// of the secure one, which is for example.com.
func (f *fixture) toWeb() *http.Transport {
	roots := x509.NewCertPool()
	roots.AddCert(f.secure.Certificate())
	return &http.Transport{
		DisableCompression: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com"},
		DialContext:     f.dial,
	}
}

func (f *fixture) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to := f.plain
	if _, port, _ := net.SplitHostPort(address); port == "443" {
		to = f.secure
	}
	var d net.Dialer
	return d.DialContext(ctx, network, to.Listener.Addr().String())
}

// newBrowser returns a client that uses the proxy for all requests and trusts its key.
func (f *fixture) newBrowser() *http.Client {
	transport := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: f.Addr()}),
		TLSClientConfig: trusting(f.identity, ""), DisableCompression: true, ForceAttemptHTTP2: true,
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// begin begins a visit that records.
func (f *fixture) begin(v Visit) {
	if v.Transport == nil {
		v.Transport = f.transport
	}
	if v.MaxRecorded == 0 {
		v.MaxRecorded = 1 << 20
	}
	v.Record = func(x Exchange) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.exchanges = append(f.exchanges, x)
	}
	f.browser.CloseIdleConnections()
	f.browser = f.newBrowser() // without connections that Begin closes
	f.Begin(v)
}

// reply is a response whose body was read.
type reply struct {
	*http.Response
	body string
	err  error // of reading the body
}

func (f *fixture) get(u string) reply {
	f.t.Helper()
	return f.do(f.request(http.MethodGet, u, nil))
}

func (f *fixture) request(method, u string, body io.Reader) *http.Request {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, u, body)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *fixture) do(r *http.Request) reply {
	f.t.Helper()
	res, err := f.browser.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return reply{res, string(body), err}
}

// recorded returns the only exchange, after End.
func (f *fixture) recorded() Exchange {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.exchanges) != 1 {
		f.t.Fatalf("%d exchanges are recorded, want 1: %+v", len(f.exchanges), f.exchanges)
	}
	return f.exchanges[0]
}

func (f *fixture) requestsOfWeb() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*http.Request(nil), f.asked...)
}

// connect opens a connection to the proxy and sends a text.
func (f *fixture) connect(say string) (net.Conn, *bufio.Reader) {
	f.t.Helper()
	c, err := net.Dial("tcp", f.Addr())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = c.Close() })
	f.say(c, say)
	return c, bufio.NewReader(c)
}

func (f *fixture) say(c net.Conn, text string) {
	f.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		f.t.Fatal(err)
	}
}

// response reads a response without its body.
func (f *fixture) response(r *bufio.Reader) *http.Response {
	f.t.Helper()
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res
}

// tunnel opens a tunnel.
func (f *fixture) tunnel(authority string) (net.Conn, *bufio.Reader) {
	f.t.Helper()
	c, r := f.connect("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n")
	line, err := r.ReadString('\n')
	if err != nil || line != "HTTP/1.1 200 Connection established\r\n" {
		f.t.Fatalf("CONNECT %s: %q, %v", authority, line, err)
	}
	if _, err := r.ReadString('\n'); err != nil {
		f.t.Fatal(err)
	}
	return c, r
}

// wantRefused fails unless the proxy itself answered.
func (f *fixture) wantRefused(r reply, status int, reason string) {
	f.t.Helper()
	if got := r.Header.Get(refusedField); r.StatusCode != status || got != reason {
		f.t.Errorf("status %d, reason %q, body %q; want %d and %q", r.StatusCode, got, r.body, status, reason)
	}
}
