package pageproxy

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"seine/internal/testing/await"
)

func TestNothingPassesOutsideOfAVisit(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	refused := func() {
		t.Helper()
		f.wantRefused(f.get("http://example.com/"), http.StatusForbidden, "no page is being visited")
		_, r := f.connect("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
		if res := f.response(r); res.StatusCode != http.StatusForbidden {
			t.Error(res.Status)
		}
	}
	refused()
	f.begin(Visit{})
	f.End()
	refused()
	if got := f.End(); got.Requests != 0 || got.Refusals != 0 || got.Problems != nil {
		t.Errorf("%+v", got)
	}
	if asked := f.requestsOfWeb(); len(asked) != 0 {
		t.Errorf("the web was asked: %v", asked)
	}
}

// TestConnectionServesOneVisit uses connections that are kept open: one from before the visit, and
// tunnels of the previous visit.
func TestConnectionServesOneVisit(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	_, early := f.connect("")
	f.await(0, 1)
	f.begin(Visit{})
	if _, err := early.ReadByte(); err == nil {
		t.Error("the connection from before the visit is open")
	}
	c, r := f.tunnel("example.com:80")
	f.say(c, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
	if res := f.response(r); res.StatusCode != 200 {
		t.Error(res.Status)
	}
	f.begin(Visit{})
	if _, err := r.ReadByte(); err == nil {
		t.Error("the tunnel of the visit before is open")
	}
}

// await waits until these numbers of connections are open: of the visit, and of none.
func (f *fixture) await(ofVisit, ofNone int) {
	f.t.Helper()
	await.Eventually(f.t, "connections are open", func() bool {
		f.Proxy.mu.Lock()
		current := f.current
		f.Proxy.mu.Unlock()
		if current == nil {
			return len(f.open.of(nil)) == ofNone
		}
		return len(f.open.of(current)) == ofVisit && len(f.open.of(nil)) == ofNone
	})
}

// TestEndCutsWhatIsUnderWay covers a response that does not end, a request that waits for its
// response, one that waits for permission, one that waits for a slot, and a body that the browser
// does not send.
func TestEndCutsWhatIsUnderWay(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) { endCuts(t, scheme) })
	}
}

func endCuts(t *testing.T, scheme string) {
	f := newFixture(t, neverEnds)
	waiting := make(chan string, 10)
	f.begin(Visit{PerHost: 1, Allow: func(ctx context.Context, r *http.Request) error {
		waiting <- r.URL.Host
		if r.URL.Host == "slow.example" {
			<-ctx.Done()
		}
		return ctx.Err()
	}})
	never, stop := io.Pipe()
	defer stop.Close()
	var jobs []*await.Job
	for _, host := range []string{"body.example", "head.example", "slow.example"} {
		jobs = append(jobs, f.fails(f.request("GET", scheme+"://"+host+"/"+host, nil)))
	}
	jobs = append(jobs, f.fails(f.request("POST", scheme+"://upload.example/upload", never)))
	for range 4 {
		<-waiting
	}
	jobs = append(jobs, f.fails(f.request("GET", scheme+"://body.example/slot", nil)))
	await.Eventually(t, "three are at the site", func() bool { return len(f.requestsOfWeb()) == 3 })
	got := f.End()
	if got.Requests != 3 || got.Failed != 0 || got.Refusals != 0 {
		t.Errorf("%+v", got)
	}
	if n := len(f.exchanges); n != 3 {
		t.Errorf("%d exchanges are recorded: %+v", n, f.exchanges)
	}
	_ = stop.Close()
	for _, j := range jobs {
		if err := j.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// neverEnds responds, partially or not at all, until the client has gone.
func neverEnds(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/body") {
		_, _ = io.WriteString(w, "a part")
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = io.Copy(io.Discard, r.Body) // net/http detects that a client has gone only after reading the body
	<-r.Context().Done()
}

// fails sends a request in the background that gets no complete response.
func (f *fixture) fails(r *http.Request) *await.Job {
	return await.Start(f.t, func(context.Context) error {
		res, err := f.browser.Do(r)
		if err != nil {
			return nil // as expected
		}
		defer res.Body.Close()
		if body, err := io.ReadAll(res.Body); err == nil && res.Header.Get(refusedField) == "" {
			f.t.Errorf("%s: a whole response: %s %q", r.URL, res.Status, body)
		}
		return nil
	})
}

// TestClosedProxyLeavesNothing covers clients that hang: without sending data, in the head, in a
// tunnel, in the TLS handshake, and with a response that they do not read. TestMain checks that no
// goroutine is left.
func TestClosedProxyLeavesNothing(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 1<<16))
		}
	})
	f.begin(Visit{})
	f.connect("")
	f.connect("GET http://example.com/ HTTP/1.1\r\nHo")
	f.tunnel("example.com:443")
	c, _ := f.tunnel("example.com:443")
	f.say(c, "\x16\x03\x01")
	c, _ = f.tunnel("example.com:80")
	f.say(c, "GET / HT")
	f.connect("GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n")
	f.await(6, 0)
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	f.Begin(Visit{})
	f.End()
}

func TestNumberOfConnectionsIsBounded(t *testing.T) {
	f := newFixture(t, func(http.ResponseWriter, *http.Request) {})
	f.begin(Visit{})
	for range maxConnections {
		f.connect("")
	}
	f.await(maxConnections, 0)
	if _, r := f.connect(""); !closed(r) {
		t.Error("one more is open")
	}
	f.begin(Visit{})
	if r := f.get("http://example.com/"); r.StatusCode != 200 {
		t.Error(r.Status)
	}
}

func closed(r io.ByteReader) bool {
	_, err := r.ReadByte()
	return err != nil
}
