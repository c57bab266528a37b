package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"seine/internal/serve/audit"
	"seine/internal/serve/caller"
	"seine/internal/serve/problem"
	"seine/internal/serve/tokens"
	"seine/internal/testing/await"
)

// options returns the options of a server whose operations return their caller and the size of the
// body.
func options(t *testing.T) *Options {
	t.Helper()
	log, err := audit.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return &Options{
		Listen: DefaultListen, Rate: DefaultRate, Audit: log, Log: slog.New(slog.DiscardHandler), Harmless: []string{"POST /api/look"},
		Pages: http.NotFoundHandler(), MCP: http.NotFoundHandler(),
		API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				problem.Write(w, http.StatusRequestEntityTooLarge, "too large: send less")
				return
			}
			_, _ = io.WriteString(w, caller.Of(r.Context()).Name)
		}),
	}
}

// call sends a request from loopback.
func call(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	return callFrom("127.0.0.1:5555", h, method, target, body, header...)
}

// callFrom sends a request from an address.
func callFrom(from string, h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8077"+target, strings.NewReader(body))
	r.RemoteAddr = from
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// wantProblem checks that a request was refused with a problem that has advice.
func wantProblem(t *testing.T, w *httptest.ResponseRecorder, status int, advice string) {
	t.Helper()
	var p struct {
		Status int
		Detail string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != status || p.Status != status || !strings.Contains(p.Detail, advice) ||
		w.Header().Get("Content-Type") != problem.ContentType {
		t.Errorf("%d %s, want %d and a problem with %q", w.Code, w.Body, status, advice)
	}
}

// A server on an address beyond this machine needs authentication, because otherwise everyone would
// have full access.
func TestAddressesThatOthersReachNeedCallersToBeKnown(t *testing.T) {
	for listen, ok := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, "127.8.8.8:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "example.org:1": false,
	} {
		o := options(t)
		o.Listen = listen
		err := o.Validate()
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "--tokens") {
			t.Errorf("%s: %v", listen, err)
		}
		if o.Tokens = someTokens(t, nil); o.Validate() != nil {
			t.Errorf("%s with tokens: %v", listen, o.Validate())
		}
	}
	o := options(t)
	var err error
	if o.Tokens, err = tokens.Open(filepath.Join(t.TempDir(), "none")); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "seine token create") {
		t.Errorf("a file without tokens: %v", err)
	}
	for _, wrong := range []func(*Options){
		func(o *Options) { o.Listen = "8077" }, func(o *Options) { o.PathPrefix = "seine" }, func(o *Options) { o.PathPrefix = "/a/" },
		func(o *Options) { o.Rate = 0 }, func(o *Options) { o.TLS.Cert = "c" }, func(o *Options) { o.TLS.ClientCA = "c" },
		func(o *Options) { o.TLS.Cert, o.TLS.Key = "none", "none" },
		func(o *Options) { o.Hosts = []string{"http://crawls.example.org"} }, func(o *Options) { o.Hosts = []string{"crawls.example.org:8443"} }, func(o *Options) { o.Hosts = []string{""} },
	} {
		o := options(t)
		if wrong(o); o.Validate() == nil {
			t.Errorf("%+v is right", o)
		}
	}
}

// someTokens creates a token and stores its secret.
func someTokens(t *testing.T, secret *string) *tokens.Store {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens.json")
	made, err := tokens.Create(file, "laptop", []caller.Scope{caller.Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if secret != nil {
		*secret = made
	}
	s, err := tokens.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Requests with an unknown host name, which somebody may have pointed at this machine, are refused.
func TestHostOfAnotherNameIsRefused(t *testing.T) {
	o := options(t)
	o.Hosts = []string{"crawls.example.org"}
	h := Handler(o)
	for host, ok := range map[string]bool{
		"127.0.0.1:8077": true, "localhost": true, "LOCALHOST.:8077": true, "[::1]:8077": true, "192.0.2.7": true, "crawls.example.org": true, "Crawls.Example.org:443": true,
		"evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example:8077": false, "": false,
	} {
		w := call(h, "GET", "/api/x", "", "Host", host)
		if ok && w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", host, w.Code, w.Body)
		}
		if !ok {
			wantProblem(t, w, http.StatusMisdirectedRequest, "--host NAME")
		}
	}
}

// Another site cannot make a browser write; programs do not send the headers of browsers.
func TestWritesOfOtherSitesAreRefused(t *testing.T) {
	h := Handler(options(t))
	for _, foreign := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "http://127.0.0.1:9999"},
	} {
		wantProblem(t, call(h, "POST", "/api/x", "", foreign...), http.StatusForbidden, "write from a page of this server")
		if w := call(h, "GET", "/api/x", "", foreign...); w.Code != http.StatusOK {
			t.Errorf("a link from another site: %d", w.Code)
		}
	}
	for _, own := range [][]string{nil, {"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none"}, {"Origin", "http://127.0.0.1:8077"}} {
		if w := call(h, "POST", "/api/x", "", own...); w.Code != http.StatusOK || w.Body.String() != caller.Local {
			t.Errorf("%q: %d %s", own, w.Code, w.Body)
		}
	}
}

// If tokens exist, all requests need one, also from this machine. Pages redirect to the login.
func TestRequestsNeedATokenWhereThereAreSome(t *testing.T) {
	o := options(t)
	var secret string
	o.Tokens, o.PathPrefix = someTokens(t, &secret), "/seine"
	h := Handler(o)
	wantProblem(t, call(h, "GET", "/seine/api/x", ""), http.StatusUnauthorized, "Authorization: Bearer")
	for _, wrong := range []string{"Bearer " + secret + "x", "Bearer", "Basic " + secret, secret} {
		wantProblem(t, call(h, "GET", "/seine/api/x", "", "Authorization", wrong), http.StatusUnauthorized, "token")
	}
	for _, right := range [][]string{{"Authorization", "Bearer " + secret}, {"Authorization", "bearer " + secret}, {"Cookie", cookieName + "=" + secret}} {
		if w := call(h, "GET", "/seine/api/x", "", right...); w.Code != http.StatusOK || w.Body.String() != "laptop" {
			t.Errorf("%q: %d %s", right, w.Code, w.Body)
		}
	}
	w := call(h, "GET", "/seine/crawls?x=1", "", "Accept", "text/html,*/*")
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != "/seine/login?to=%2Fcrawls%3Fx%3D1" {
		t.Errorf("a page: %d, to %s", w.Code, to)
	}
	if w := call(h, "GET", "/seine/healthz", ""); w.Code != http.StatusOK {
		t.Errorf("a health check: %d", w.Code)
	}
}

// A browser keeps its token in a cookie that scripts cannot read. The login does not redirect to
// other sites.
func TestLoginKeepsTheToken(t *testing.T) {
	o := options(t)
	var secret string
	o.Tokens = someTokens(t, &secret)
	h := Handler(o)
	form := func(token, to string) string { return url.Values{"token": {token}, "to": {to}}.Encode() }
	content := []string{"Content-Type", "application/x-www-form-urlencoded"}
	if w := call(h, "POST", "/login", form("wrong", "/"), content...); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) > 0 {
		t.Errorf("a wrong token: %d, %v", w.Code, w.Result().Cookies())
	}
	for to, want := range map[string]string{"/crawls": "/crawls", "//evil.example": "/", "https://evil.example": "/", "/\\evil.example": "/", "": "/"} {
		w := call(h, "POST", "/login", form(secret, to), content...)
		cookies := w.Result().Cookies()
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != want || len(cookies) != 1 {
			t.Fatalf("%q: %d, to %s, %v", to, w.Code, w.Header().Get("Location"), cookies)
		}
		if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value != secret {
			t.Errorf("the cookie is %+v", c)
		}
	}
	if w := call(h, "GET", "/login?to="+url.QueryEscape(`"><script>alert(1)</script>`), ""); strings.Contains(w.Body.String(), "<script>") {
		t.Errorf("the page has a script: %s", w.Body)
	}
	for _, target := range []string{"/static/../api/x", "/static/%2e%2e/api/x"} { // the exception for the stylesheet opens nothing else
		if w := call(h, "GET", target, ""); w.Code == http.StatusOK {
			t.Errorf("%s without a token: %d", target, w.Code)
		}
	}
	if c := call(h, "POST", "/logout", "").Result().Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
		t.Errorf("after the end: %v", c)
	}
}

// A read-only server refuses everything but GET and requests known to change nothing.
func TestReadOnlyRefusesWrites(t *testing.T) {
	o := options(t)
	o.ReadOnly = true
	h := Handler(o)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "QUERY"} {
		wantProblem(t, call(h, method, "/api/x", ""), http.StatusForbidden, "--read-only")
	}
	for _, look := range [][2]string{{"GET", "/api/x"}, {"POST", "/api/look"}} {
		if w := call(h, look[0], look[1], ""); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", look, w.Code, w.Body)
		}
	}
	// A method override header has no effect.
	if w := call(h, "GET", "/api/x", "", "X-HTTP-Method-Override", "DELETE"); w.Code != http.StatusOK {
		t.Errorf("%d", w.Code)
	}
}

func TestCallerThatSendsTooMuchIsSlowedDown(t *testing.T) {
	o := options(t)
	o.Rate = 5
	h := Handler(o)
	refused := 0
	for range 20 {
		w := call(h, "GET", "/api/x", "")
		if w.Code == http.StatusTooManyRequests {
			refused++
			wantProblem(t, w, http.StatusTooManyRequests, "wait a second")
			if w.Header().Get("Retry-After") == "" {
				t.Error("it does not say when")
			}
		}
	}
	if refused < 10 {
		t.Errorf("%d of 20 are refused", refused)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	h := Handler(options(t))
	wantProblem(t, call(h, "POST", "/api/x", strings.Repeat("x", maxBody+1)), http.StatusRequestEntityTooLarge, "send less")
	if w := call(h, "POST", "/api/x", strings.Repeat("x", maxBody)); w.Code != http.StatusOK {
		t.Errorf("%d", w.Code)
	}
}

// A client without a token can use little memory of the server, whatever it sends and wherever.
func TestClientWithoutATokenIsHeldToLittle(t *testing.T) {
	o := options(t)
	var secret string
	o.Tokens = someTokens(t, &secret)
	read := make(chan int64, 1)
	o.Pages = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		read <- n
	})
	h := Handler(o)
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	long := "to=/&x=" + strings.Repeat("y", 1<<20) + "&token=" + secret
	if w := call(h, "POST", "/login", long, form...); w.Code != http.StatusUnauthorized {
		t.Errorf("a form of 1 MiB: %d, want 401", w.Code)
	}
	if w := call(h, "POST", "/login", "to=/&token="+secret, form...); w.Code != http.StatusSeeOther {
		t.Errorf("a form of a usual size: %d, want 303", w.Code)
	}
	call(h, "POST", "/static/x", long)
	if n := <-read; n > 64<<10 {
		t.Errorf("%d bytes of a body were read, want at most 64 KiB", n)
	}
	call(h, "POST", "/static/x", long, "Authorization", "Bearer "+secret)
	if n := <-read; n != int64(len(long)) {
		t.Errorf("%d bytes of the body of a known caller were read, want %d", n, len(long))
	}
	if w := call(h, "GET", "/login?to=/"+strings.Repeat("y", 30<<10), ""); w.Body.Len() > 16<<10 {
		t.Errorf("the page of login has %d bytes", w.Body.Len())
	}
	w := call(h, "GET", "/"+strings.Repeat("y", 30<<10), "", "Accept", "text/html")
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || len(to) > 8<<10 {
		t.Errorf("%d, a Location of %d bytes", w.Code, len(to))
	}
}

// The in-flight requests of one caller are limited, and so are those of all callers without a
// token; others are answered meanwhile.
func TestRequestsInFlightAreBounded(t *testing.T) {
	o := options(t)
	var secret string
	o.Tokens = someTokens(t, &secret)
	entered, leave := make(chan struct{}), make(chan struct{})
	o.Pages = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-leave
	})
	h := Handler(o)
	var wg sync.WaitGroup
	hold := func(from string, n int, header ...string) {
		for range n {
			wg.Go(func() { callFrom(from, h, "GET", "/static/x", "", header...) })
			<-entered
		}
	}
	bearer := []string{"Authorization", "Bearer " + secret}
	for i := range maxAllUnknownInFlight / maxUnknownInFlight {
		from := fmt.Sprintf("192.0.2.%d:1", i)
		hold(from, maxUnknownInFlight)
		wantProblem(t, callFrom(from, h, "GET", "/static/x", ""), http.StatusTooManyRequests, "at a time")
	}
	wantProblem(t, call(h, "GET", "/static/x", ""), http.StatusTooManyRequests, "at a time")
	hold("127.0.0.1:1", maxInFlight, bearer...)
	w := call(h, "GET", "/api/x", "", bearer...)
	if wantProblem(t, w, http.StatusTooManyRequests, "at a time"); w.Header().Get("Retry-After") == "" {
		t.Error("the answer has no Retry-After")
	}
	close(leave)
	wg.Wait()
	if w := call(h, "GET", "/api/x", "", bearer...); w.Code != http.StatusOK {
		t.Errorf("after the others: %d", w.Code)
	}
}

// Every write is logged with its caller and operation, even if it was refused; reads are not.
func TestWritesAreAudited(t *testing.T) {
	o := options(t)
	o.ReadOnly = true
	h := Handler(o)
	call(h, "GET", "/api/x", "")
	call(h, "POST", "/api/look?a=b", "", "X-Request-Id", "r1")
	call(h, "DELETE", "/api/x", "")
	all, err := o.Audit.Newest(0, 10)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	refused, done := all[0], all[1]
	if refused.Method != "DELETE" || refused.Status != http.StatusForbidden || !strings.Contains(refused.Reason, "--read-only") || refused.Who != caller.Local {
		t.Errorf("%+v", refused)
	}
	if done.Path != "/api/look?a=b" || done.Status != http.StatusOK || done.Request != "r1" || done.From != "127.0.0.1:5555" || done.Reason != "" {
		t.Errorf("%+v", done)
	}
}

// All responses keep browsers from running injected scripts and from framing the page.
func TestAnswersHoldBrowsersBack(t *testing.T) {
	h := Handler(options(t))
	for _, target := range []string{"/", "/api/x", "/login", "/nothing"} {
		w := call(h, "GET", target, "")
		csp := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy %q lacks %s", target, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
}

func TestPathsHaveThePrefix(t *testing.T) {
	o := options(t)
	o.PathPrefix = "/seine"
	h := Handler(o)
	if w := call(h, "GET", "/seine/api/x", ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	wantProblem(t, call(h, "GET", "/api/x", ""), http.StatusNotFound, "add it")
	wantProblem(t, call(h, "GET", "/seineapi/x", ""), http.StatusNotFound, "add it")
	if w := call(h, "GET", "/", ""); w.Code != http.StatusFound || w.Header().Get("Location") != "/seine/" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// A server ends with its context, even while a client holds a connection open.
func TestServeEnds(t *testing.T) {
	o := options(t)
	o.Listen = "127.0.0.1:0"
	l, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, o, l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stop()
	done := false
	await.Eventually(t, "the server has ended", func() bool {
		select {
		case err = <-ended:
			done = true
		default:
		}
		return done
	})
	if err != nil {
		t.Error(err)
	}
}
