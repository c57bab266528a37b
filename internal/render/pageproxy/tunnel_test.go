package pageproxy

import (
	"bufio"
	"crypto/tls"
	"net/http"
	"testing"
)

func TestRequestForAnotherHostInATunnel(t *testing.T) {
	for name, c := range map[string]struct {
		authority, request string
		want               int
	}{
		"same":              {"example.com:80", "GET / HTTP/1.1\r\nHost: example.com", 200},
		"same, with a port": {"example.com:80", "GET / HTTP/1.1\r\nHost: Example.com:80", 200},
		"other port":        {"example.com:8080", "GET / HTTP/1.1\r\nHost: example.com:8080", 200},
		"IPv6":              {"[2606:4700::1111]:80", "GET / HTTP/1.1\r\nHost: [2606:4700::1111]", 200},
		"another host":      {"example.com:80", "GET / HTTP/1.1\r\nHost: internal.example", 421},
		"another port":      {"example.com:80", "GET / HTTP/1.1\r\nHost: example.com:81", 421},
		"no host":           {"example.com:80", "GET / HTTP/1.0", 421},
		"absolute":          {"example.com:80", "GET http://internal.example/ HTTP/1.1\r\nHost: example.com", 400},
		"another scheme":    {"example.com:80", "GET file:///etc/passwd HTTP/1.1\r\nHost: example.com", 400},
		"asterisk":          {"example.com:80", "OPTIONS * HTTP/1.1\r\nHost: example.com", 400},
		"tunnel in it":      {"example.com:80", "CONNECT internal.example:80 HTTP/1.1\r\nHost: internal.example:80", 400},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
			f.begin(Visit{})
			conn, r := f.tunnel(c.authority)
			f.say(conn, c.request+"\r\n\r\n")
			res := f.response(r)
			if res.StatusCode != c.want || (c.want != 200) != (res.Header.Get(refusedField) != "") {
				t.Errorf("%d %v", res.StatusCode, res.Header)
			}
			if asked := len(f.requestsOfWeb()); (c.want == 200) != (asked == 1) {
				t.Errorf("%d requests of the web", asked)
			}
		})
	}
}

func TestOnlyHTTPIsProxied(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	f.begin(Visit{})
	for request, want := range map[string]int{
		"GET / HTTP/1.1\r\nHost: " + f.Addr():                           403,
		"GET ftp://example.com/ HTTP/1.1\r\nHost: example.com":          403,
		"GET file:///etc/passwd HTTP/1.1\r\nHost: example.com":          403,
		"CONNECT example.com HTTP/1.1\r\nHost: example.com":             400,
		"CONNECT :443 HTTP/1.1\r\nHost: :443":                           400,
		"CONNECT example.com:0 HTTP/1.1\r\nHost: example.com:0":         400,
		"CONNECT example.com:70000 HTTP/1.1\r\nHost: example.com:70000": 400,
		"CONNECT a/b:443 HTTP/1.1\r\nHost: a":                           400,
		"GET http:///nohost HTTP/1.1\r\nHost: example.com":              502,
	} {
		t.Run(request, func(t *testing.T) {
			_, r := f.connect(request + "\r\n\r\n")
			if res := f.response(r); res.StatusCode != want {
				t.Errorf("%d %v", res.StatusCode, res.Header)
			}
		})
	}
	if asked := f.requestsOfWeb(); len(asked) != 0 {
		t.Errorf("the web was asked: %v", asked)
	}
}

// TestClientThatDoesNotWait sends the request together with CONNECT.
func TestClientThatDoesNotWait(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	f.begin(Visit{})
	_, r := f.connect("CONNECT example.com:80 HTTP/1.1\r\nHost: example.com:80\r\n\r\nGET /early HTTP/1.1\r\nHost: example.com\r\n\r\n")
	if res := f.response(r); res.StatusCode != 200 {
		t.Fatal(res.Status)
	}
	if res := f.response(r); res.StatusCode != 200 {
		t.Fatal(res.Status)
	}
	if got := f.End(); got.Requests != 1 {
		t.Errorf("%+v", got)
	}
}

// TestTunnelLeadsToItsHost uses a client that names another host by SNI.
func TestTunnelLeadsToItsHost(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	f.begin(Visit{})
	c, _ := f.tunnel("example.com:443")
	encrypted := tls.Client(c, &tls.Config{ServerName: "other.example", InsecureSkipVerify: true})
	f.say(encrypted, "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n")
	if res := f.response(bufio.NewReader(encrypted)); res.StatusCode != http.StatusMisdirectedRequest {
		t.Error(res.Status)
	}
}

// TestProxyDoesNotServeItself uses a page that requests the proxy's own port, with a spec that
// allows loopback addresses.
func TestProxyDoesNotServeItself(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	direct := &http.Transport{DisableCompression: true}
	t.Cleanup(direct.CloseIdleConnections)
	f.begin(Visit{Transport: direct})
	r := f.get("http://" + f.Addr() + "/")
	if got := f.End(); r.StatusCode != http.StatusForbidden || got.Requests != 1 {
		t.Errorf("%s, %+v", r.Status, got)
	}
}
