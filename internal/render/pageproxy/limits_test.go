package pageproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"seine/internal/fetch/netguard"
	"seine/internal/testing/await"
)

func TestLimitOfRequests(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	f.begin(Visit{MaxRequests: 2})
	f.get("http://example.com/1")
	f.get("https://example.com/2")
	f.wantRefused(f.get("https://example.com/3"), http.StatusForbidden, "the page has reached its limit of 2 requests (render.max_requests)")
	got := f.End()
	if got.Requests != 2 || got.Refusals != 1 || got.Problems[0] != (Problem{Reason: "the page has reached its limit of 2 requests (render.max_requests)", Count: 1, URL: "https://example.com/3"}) {
		t.Errorf("%+v", got)
	}
	if len(f.requestsOfWeb()) != 2 || len(f.exchanges) != 2 {
		t.Errorf("%d requests, %d exchanges", len(f.requestsOfWeb()), len(f.exchanges))
	}
}

func TestLimitOfBytes(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 100)) })
	for _, scheme := range []string{"http", "https"} {
		f.begin(Visit{MaxBytes: 150})
		if r := f.get(scheme + "://example.com/whole"); r.err != nil || len(r.body) != 100 {
			t.Errorf("%d bytes, %v", len(r.body), r.err)
		}
		if r := f.get(scheme + "://example.com/cut"); r.err == nil {
			t.Errorf("the browser takes %d bytes for all", len(r.body))
		}
		f.wantRefused(f.get(scheme+"://example.com/none"), http.StatusForbidden, "the page has reached its limit of 150 bytes (render.max_bytes)")
		if got := f.End(); got.Requests != 2 || got.Bytes != 150 || got.Refusals != 2 || got.Failed != 0 {
			t.Errorf("%+v", got)
		}
	}
	cut := f.exchanges[1]
	if len(cut.Body) != 50 || !cut.Truncated || cut.Err == nil {
		t.Errorf("%d bytes, %+v", len(cut.Body), cut)
	}
}

func TestLimitOfBytesHoldsForUploads(t *testing.T) {
	f := newFixture(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	f.begin(Visit{MaxBytes: 1000})
	f.do(f.request("POST", "https://example.com/", strings.NewReader(strings.Repeat("x", 5000))))
	if got := f.End(); got.Bytes != 1000 || got.Refusals != 1 || got.Requests != 1 {
		t.Errorf("%+v", got)
	}
}

// TestAllowRefuses checks for which requests permission is requested.
func TestAllowRefuses(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	var asked []string
	f.begin(Visit{Allow: func(_ context.Context, r *http.Request) error {
		asked = append(asked, r.Method+" "+r.URL.String())
		if strings.HasSuffix(r.URL.Path, "/private") {
			return errors.New("robots.txt forbids it:\nDisallow: /private – for all")
		}
		return nil
	}})
	f.wantRefused(f.get("https://Example.com:443/private?a=b"), http.StatusForbidden, "robots.txt forbids it: Disallow: /private ? for all")
	f.get("http://example.com:80/open")
	if got, want := fmt.Sprint(asked), "[GET https://example.com/private?a=b GET http://example.com/open]"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	if got := f.End(); got.Requests != 1 || got.Refusals != 1 || len(f.requestsOfWeb()) != 1 {
		t.Errorf("%+v", got)
	}
}

// A page may make any number of requests that fail in any number of ways.
func TestProblemsAreBounded(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
	})
	f.begin(Visit{Allow: func(_ context.Context, r *http.Request) error {
		if r.URL.Host == "no.example" {
			return errors.New("no")
		}
		return nil
	}})
	for status := range 20 {
		f.get("http://no.example/200")
		f.get(fmt.Sprint("http://example.com/", 200+status)).Body.Close()
		f.get(fmt.Sprint("http://example.com/", 400+status)).Body.Close()
	}
	got := f.End()
	if got.Refusals != 20 || len(got.Problems) != MaxProblems {
		t.Fatalf("%+v", got)
	}
	if no := got.Problems[0]; no != (Problem{Reason: "no", Count: 20, URL: "http://no.example/200"}) {
		t.Errorf("%+v", no)
	}
	if bad := got.Problems[1]; bad != (Problem{Reason: "the site answered 400 Bad Request", Count: 1, URL: "http://example.com/400"}) {
		t.Errorf("%+v", bad)
	}
}

// TestAddressGuard uses a name that resolves to loopback, as by DNS rebinding, and one whose server
// the test declares public.
func TestAddressGuard(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	guarded := f.toWeb()
	t.Cleanup(guarded.CloseIdleConnections)
	guarded.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "public.example:") {
			return f.dial(ctx, network, address)
		}
		d := net.Dialer{Control: netguard.New(nil, false).Control}
		return d.DialContext(ctx, network, f.secure.Listener.Addr().String())
	}
	f.begin(Visit{Transport: guarded})
	if r := f.get("https://public.example/"); r.StatusCode != 200 {
		t.Errorf("%d %q", r.StatusCode, r.body)
	}
	f.wantRefused(f.get("https://rebound.example/"), http.StatusForbidden, "the address is not public: loopback (127.0.0.0/8, RFC 1122)")
	f.wantRefused(f.get("http://169.254.169.254/"), http.StatusForbidden, "the address is not public: loopback (127.0.0.0/8, RFC 1122)")
	got := f.End()
	if got.Requests != 1 || got.Failed != 0 || got.Refusals != 2 || !strings.Contains(got.Problems[0].Reason, "allow_private") {
		t.Errorf("%+v", got)
	}
	if x := f.recorded(); x.URL != "https://public.example/" {
		t.Errorf("%+v", x)
	}
}

// TestRequestsOfAHostWaitForASlot sends more requests than may be in progress.
func TestRequestsOfAHostWaitForASlot(t *testing.T) {
	var underWay, most, begun atomic.Int64
	finish := make(chan struct{})
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {
		n := underWay.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		begun.Add(1)
		<-finish
		underWay.Add(-1)
	})
	f.begin(Visit{PerHost: 2})
	var jobs []*await.Job
	get := func(url string) {
		jobs = append(jobs, await.Start(t, func(context.Context) error { f.get(url); return nil }))
	}
	for range 5 {
		get("https://example.com/")
	}
	await.Eventually(t, "two are under way", func() bool { return begun.Load() == 2 })
	get("https://other.example/")
	await.Eventually(t, "another host has its own slots", func() bool { return begun.Load() == 3 })
	close(finish)
	for _, j := range jobs {
		_ = j.Wait()
	}
	if begun.Load() != 6 || most.Load() != 3 {
		t.Errorf("%d requests, %d at once", begun.Load(), most.Load())
	}
}

// Requests without a response, or with an endless one, can be failed: the page gets an error for
// each, and the operator a problem. Later requests pass.
func TestFailPending(t *testing.T) {
	arrived := make(chan struct{}, 2)
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/drips" {
			_, _ = io.WriteString(w, "some")
			_ = http.NewResponseController(w).Flush()
		}
		if r.URL.Path != "/later" {
			arrived <- struct{}{}
			<-r.Context().Done()
		}
	})
	f.begin(Visit{})
	answers := make(chan reply, 2)
	for _, path := range []string{"/never", "/drips"} {
		go func() { answers <- f.get("https://example.com" + path) }()
		<-arrived
	}
	f.FailPending()
	for range 2 {
		if r := <-answers; r.err == nil && r.StatusCode != http.StatusGatewayTimeout {
			t.Errorf("%+v", r)
		}
	}
	if r := f.get("https://example.com/later"); r.err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("later: %+v", r)
	}
	if got := f.End(); got.Failed != 2 || len(got.Problems) != 1 || got.Problems[0].Reason != "no response: "+errNoEnd.Error() {
		t.Errorf("%+v", got)
	}
}
