package httpclient

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	brotli "github.com/molecule-man/go-brrr"

	"seine/internal/base/weburl"
	"seine/internal/testing/rawserver"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

const someSpacing = 30 * time.Millisecond

const okReply = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"

func TestRequestTargetIsSentExactly(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t)
	r := rawserver.New(t, func(int) (string, bool) { return okReply, true })
	host := strings.TrimPrefix(r.URL, "http://")
	for path, want := range map[string]string{
		"/":                 "/",
		"/a|b?c|d":          "/a|b?c|d",
		"/%zz/100%":         "/%zz/100%",
		"/%7C%2F%c3%a9/[x]": "/%7C%2F%C3%A9/[x]",
		"/a;b=c,d'e(f)!*$&": "/a;b=c,d'e(f)!*$&",
		"/?q=a b&r=\"<>{}^": "/?q=a%20b&r=%22%3C%3E{}^",
		"//evil.example/x":  "//evil.example/x",
		"//a//b?c//d":       "//a//b?c//d",
		"//a%2Fb":           "//a%2Fb",
		"//a|b":             "http://" + host + "//a|b",
		"/a?b?c=%zz":        "/a?b?c=%zz",
	} {
		url, err := weburl.Canonicalize(r.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := weburl.Path(url); !strings.HasSuffix(want, got) {
			t.Fatalf("canonical path %s, the test wants %s", got, want)
		}
		s.get(url).wants(t, messages.OK)
		lines := r.Lines()
		if got := lines[len(lines)-1]; got != "GET "+want+" HTTP/1.1" {
			t.Errorf("%s: sent %q, want %s", path, got, want)
		}
	}
}

func TestBrokenResponses(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t)
	for name, c := range map[string]struct {
		reply string
		want  messages.Class
	}{
		"nothing":          {"", messages.ConnectFailure},
		"not HTTP":         {"SSH-2.0-OpenSSH_9.6\r\n\r\n", messages.ProtocolError},
		"header cut":       {"HTTP/1.1 200 OK\r\nContent-Ty", messages.ProtocolError},
		"header garbage":   {"HTTP/1.1 200 OK\r\nno colon here\r\n" + okReply[len("HTTP/1.1 200 OK\r\n"):], messages.OK},
		"bad length":       {"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", messages.ProtocolError},
		"short":            {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\nshort", messages.ProtocolError},
		"bad chunk":        {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", messages.ProtocolError},
		"chunks cut":       {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", messages.ProtocolError},
		"switch protocols": {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", messages.ProtocolError},
		"until close":      {"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nall", messages.OK},
		"early hints":      {"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + okReply, messages.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rawserver.New(t, func(int) (string, bool) { return c.reply, false })
			s.get(r.URL+"/").wants(t, c.want)
		})
	}
}

// If the server closes a connection during a request, net/http sends it again; the host may have
// seen the first one, so the delay is kept between them.
func TestRequestSentAgainWaitsOutTheDelay(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t)
	r := rawserver.New(t, func(n int) (string, bool) {
		if n == 2 {
			return "", false
		}
		return okReply, true
	})
	s.get(r.URL+"/").wants(t, messages.OK)
	again := s.request(r.URL + "/again")
	again.Spacing = someSpacing
	s.do(again).wants(t, messages.OK)
	at := r.Times()
	if len(at) != 3 {
		t.Fatalf("the server saw %q", r.Lines())
	}
	if gap := at[2].Sub(at[1]); gap < someSpacing {
		t.Errorf("sent again after %s, the delay is %s", gap, someSpacing)
	}
}

// A failing host receives each request once; otherwise its breaker's probe would be two requests.
func TestRequestToAFailingHostIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t)
	r := rawserver.New(t, func(n int) (string, bool) {
		if n == 2 {
			return "", false
		}
		return okReply, true
	})
	s.get(r.URL+"/").wants(t, messages.OK)
	probe := s.request(r.URL + "/probe")
	probe.Spacing, probe.NoResend = someSpacing, true
	s.do(probe).wants(t, messages.ConnectFailure)
	if lines := r.Lines(); len(lines) != 2 {
		t.Fatalf("the server saw %q", lines)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t)
	var mu sync.Mutex
	opened := 0
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			http.Error(w, strings.Repeat("gone ", 1000), http.StatusNotFound)
		case "/image":
			w.Header().Set("Content-Type", "image/gif")
			_, _ = w.Write(make([]byte, 3000))
		case "/gzip":
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "deflate")
			z := zlib.NewWriter(w)
			_, _ = z.Write(make([]byte, 3000))
			_ = z.Flush()
			w.(http.Flusher).Flush()
			_ = z.Close()
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("ok"))
		}
	}))
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if state == http.StateNew {
			opened++
		}
	}
	srv.Start()
	defer srv.Close()
	for _, path := range []string{"/", "/gone", "/image", "/gzip", "/"} {
		s.get(srv.URL + path)
	}
	mu.Lock()
	defer mu.Unlock()
	if opened != 1 {
		t.Errorf("%d connections", opened)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "%s %s", r.Proto, r.RequestURI)
	}))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	s.get(srv.URL+"/").wants(t, messages.TLSFailure) // an unknown issuer

	s.pools.tls.RootCAs = x509.NewCertPool()
	s.pools.tls.RootCAs.AddCert(srv.Certificate())
	for _, path := range []string{"/a|b", "//a|b", "/"} {
		h := s.get(srv.URL + path)
		h.wants(t, messages.OK)
		if want := "HTTP/2.0 " + path; string(h.Body.Data) != want || h.Protocol != "HTTP/2.0" || h.IP != "127.0.0.1" {
			t.Errorf("server saw %q, want %q; protocol %s, IP %q", h.Body.Data, want, h.Protocol, h.IP)
		}
	}
	port := srv.URL[strings.LastIndexByte(srv.URL, ':'):]
	s.get("https://other.localhost"+port+"/").wants(t, messages.TLSFailure) // another name
	h := s.get("https" + strings.TrimPrefix(s.url("/"), "http"))
	h.wants(t, messages.TLSFailure)
	if !strings.Contains(h.Text, "does not speak TLS") {
		t.Errorf("error %q", h.Text)
	}
	s.Close()
}

func TestNamesAndConnections(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t, func(c *Config, _ *crawlspec.Spec) {
		c.DialTimeout = crawlspec.Duration(200 * time.Millisecond)
	})
	var mu sync.Mutex
	asked := map[string]int{}
	s.pools.resolver.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
		mu.Lock()
		asked[host]++
		mu.Unlock()
		switch host {
		case "slow.test":
			<-ctx.Done()
			return nil, ctx.Err()
		case "two.test":
			return []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.2"), netip.MustParseAddr("127.0.0.1")}, nil
		case "meta.test":
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
		case "none.test":
			return nil, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	url := s.url("/special/ok")
	port := strings.TrimSuffix(url[strings.LastIndexByte(url, ':'):], "/special/ok")
	s.get("http://gone.test/").wants(t, messages.DNSFailure)
	s.get("http://gone.test/x").wants(t, messages.DNSFailure)
	s.get("http://none.test/").wants(t, messages.DNSFailure)
	s.get("http://slow.test/").wants(t, messages.DNSFailure)
	s.get("http://meta.test/").wants(t, messages.RefusedAddress)
	h := s.get("http://two.test" + port + "/special/ok")
	h.wants(t, messages.OK)
	if h.IP != "127.0.0.1" {
		t.Errorf("IP %q", h.IP)
	}
	if asked["gone.test"] != 1 {
		t.Errorf("the resolver was asked %d times for one name", asked["gone.test"])
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	h = s.get("http://" + l.Addr().String() + "/")
	h.wants(t, messages.ConnectFailure)
	if !strings.Contains(h.Text, "connection refused") {
		t.Errorf("error %q", h.Text)
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t)
	text := bytes.Repeat([]byte("<p>The river runs on and on.</p>\n"), 1000)
	coders := map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"x-gzip":  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"raw": func(w io.Writer) io.WriteCloser {
			z, _ := flate.NewWriter(w, 6)
			return z
		},
		"br":       func(w io.Writer) io.WriteCloser { z, _ := brotli.NewWriter(w, 6); return z },
		"zstd":     func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
		"identity": func(w io.Writer) io.WriteCloser { return nopCloser{w} },
	}
	encode := func(names ...string) []byte {
		body := text
		for _, n := range names {
			var b bytes.Buffer
			z := coders[n](&b)
			_, _ = z.Write(body)
			_ = z.Close()
			body = b.Bytes()
		}
		return body
	}
	cut := func(b []byte) []byte { return b[:len(b)-20] }
	bomb := func() []byte {
		var b bytes.Buffer
		z, _ := brotli.NewWriter(&b, 6)
		_, _ = z.Write(make([]byte, 8<<20))
		_ = z.Close()
		return b.Bytes()
	}
	for i, c := range []struct {
		header []string
		body   []byte
		want   messages.Class
	}{
		{[]string{"gzip"}, encode("gzip"), messages.OK},
		{[]string{"X-GZIP"}, encode("gzip"), messages.OK},
		{[]string{"deflate"}, encode("deflate"), messages.OK},
		{[]string{"deflate"}, encode("raw"), messages.OK},
		{[]string{"br"}, encode("br"), messages.OK},
		{[]string{"zstd"}, encode("zstd"), messages.OK},
		{[]string{"identity"}, text, messages.OK},
		{[]string{"gzip, br"}, encode("gzip", "br"), messages.OK},
		{[]string{"deflate", "gzip,identity, zstd"}, encode("raw", "gzip", "zstd"), messages.OK},
		{[]string{"gzip"}, append(encode("gzip"), "trailing bytes that are no gzip"...), messages.OK},
		{[]string{"br"}, append(encode("br"), "trailing bytes"...), messages.OK},
		{[]string{"gzip"}, text, messages.BadEncoding},
		{[]string{"br"}, text, messages.BadEncoding},
		{[]string{"zstd"}, text, messages.BadEncoding},
		{[]string{"deflate"}, append([]byte{0xff}, text...), messages.BadEncoding},
		{[]string{"gzip"}, cut(encode("gzip")), messages.BadEncoding},
		{[]string{"br"}, cut(encode("br")), messages.BadEncoding},
		{[]string{"zstd"}, cut(encode("zstd")), messages.BadEncoding},
		{[]string{"compress"}, text, messages.BadEncoding},
		{[]string{"gzip,gzip,gzip,gzip,gzip"}, text, messages.BadEncoding},
		{[]string{"br"}, bomb(), messages.TooLarge},
	} {
		path := fmt.Sprintf("/enc/%d", i)
		s.web.Handle(0, path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header()["Content-Encoding"] = c.header
			_, _ = w.Write(c.body)
		})
		for range 2 { // the second with decoders that have been used
			h := s.get(s.url(path))
			if h.Class != c.want {
				t.Fatalf("%d %q: class %s (%s), want %s", i, c.header, h.Class, h.Text, c.want)
			}
			if h.Class == messages.OK && !bytes.Equal(h.Body.Data, text) {
				t.Errorf("%d %q: another body", i, c.header)
			}
		}
	}
	s.web.Handle(0, "/empty", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip, zstd")
		w.(http.Flusher).Flush()
	})
	s.get(s.url("/empty")).wants(t, messages.OK)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestBandwidthAndRate(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t, func(c *Config, _ *crawlspec.Spec) {
		c.Bandwidth, c.Rate = 4<<20, 50
		c.StallTimeout = crawlspec.Duration(50 * time.Millisecond) // waiting does not count as stalling
	})
	began := time.Now()
	s.get(s.url("/special/big?mb=1")).wants(t, messages.OK)
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("1 MiB at 4 MiB/s in %s", took)
	}
	began = time.Now()
	for range 5 {
		s.get(s.url("/special/ok"))
	}
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("5 requests at 50/s in %s", took)
	}
}

func TestLargeBodiesShareLittleMemory(t *testing.T) {
	t.Parallel()
	s := newClientFixture(t, func(c *Config, s *crawlspec.Spec) {
		c.MaxInFlightBody, c.Workers = 1<<20, 4
		s.MaxBody = 4 << 20
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if h := s.get(s.url("/special/big?mb=2")); h.Class != messages.OK {
				t.Errorf("class %s: %s", h.Class, h.Text)
			}
		})
	}
	wg.Wait()
}
