package writer

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"seine/internal/testing/s3server"
	"seine/internal/testing/slow"
)

// faultyProxy is between a writer and an S3 server. Four of every eleven requests fail, each in a
// different way.
type faultyProxy struct {
	http.Handler
	requests, faults atomic.Int64
	faulty           atomic.Bool
}

func (p *faultyProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := p.requests.Add(1)
	if !p.faulty.Load() {
		p.Handler.ServeHTTP(w, r)
		return
	}
	p.faults.Add(1)
	switch n % 11 {
	case 0: // too busy, and nothing was done
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
	case 3: // cut before anything was done
		panic(http.ErrAbortHandler)
	case 6: // done, and the answer is lost
		p.Handler.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case 9: // done, and the answer breaks off
		answer := httptest.NewRecorder()
		p.Handler.ServeHTTP(answer, r)
		w.Header().Set("Content-Length", "100000")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		panic(http.ErrAbortHandler)
	case 5: // slow
		<-time.After(200 * time.Millisecond)
		p.Handler.ServeHTTP(w, r)
	default:
		p.faults.Add(-1)
		p.Handler.ServeHTTP(w, r)
	}
}

// A service that fails in every way that a network can, on about a third of the requests, only
// costs time.
func TestS3Faults(t *testing.T) {
	slow.Skip(t)
	server := s3server.Start(t)
	target, err := url.Parse(server.Endpoint())
	check(t, err)
	pass := httputil.NewSingleHostReverseProxy(target)
	pass.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	proxy := &faultyProxy{Handler: pass}
	front := httptest.NewServer(proxy)
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	defer front.Close()

	bus, cfg := startBus(t, false), onS3(t, server)
	direct := cfg
	cfg.S3.Endpoint = front.URL
	w := start(t, bus, cfg)
	publish(t, bus, "a", 0, 50)
	w.catchUp()
	proxy.faulty.Store(true)
	publish(t, bus, "a", 50, 450)
	w.catchUp()
	proxy.faulty.Store(false)
	w.end()
	t.Logf("%d of %d requests went wrong", proxy.faults.Load(), proxy.requests.Load())
	if proxy.faults.Load() < 10 {
		t.Errorf("only %d requests went wrong", proxy.faults.Load())
	}
	wantExactly(t, direct, map[string]int{"a": 450})
	wantTidy(t, direct)
}
