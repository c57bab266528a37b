package testweb

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// at returns requests from pairs of milliseconds; an end of -1 means in flight.
func at(pairs ...[2]int) []Request {
	zero := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	ms := func(n int) time.Time { return zero.Add(time.Duration(n) * time.Millisecond) }
	var requests []Request
	for _, p := range pairs {
		r := Request{At: ms(p[0])}
		if p[1] >= 0 {
			r.End = ms(p[1])
		}
		requests = append(requests, r)
	}
	return requests
}

func TestMeasures(t *testing.T) {
	type p = [2]int
	cases := []struct {
		name            string
		requests        []Request
		gap, start      int // milliseconds
		concurrent      int
		negativeIsFloor bool // the in-flight request ends some time after the rest
	}{
		{name: "none"},
		{name: "one", requests: at(p{5, 9}), concurrent: 1},
		{name: "spaced", requests: at(p{0, 10}, p{110, 120}, p{170, 200}), gap: 50, start: 60, concurrent: 1},
		{name: "unordered", requests: at(p{170, 200}, p{0, 10}, p{110, 120}), gap: 50, start: 60, concurrent: 1},
		{name: "touching", requests: at(p{0, 10}, p{10, 20}), gap: 0, start: 10, concurrent: 1},
		{name: "overlap", requests: at(p{0, 10}, p{4, 20}), gap: -6, start: 4, concurrent: 2},
		{name: "inside a long one", requests: at(p{0, 100}, p{10, 20}, p{30, 40}), gap: -90, start: 10, concurrent: 2},
		{name: "of no length", requests: at(p{0, 0}, p{0, 0}, p{5, 5}), gap: 0, start: 0, concurrent: 1},
		{name: "of no length inside", requests: at(p{0, 9}, p{5, 5}), gap: -4, start: 5, concurrent: 2},
		{name: "open", requests: at(p{0, -1}, p{5, 9}), gap: -4, start: 5, concurrent: 2, negativeIsFloor: true},
		{name: "three", requests: at(p{0, 10}, p{1, 5}, p{2, 3}, p{6, 8}), gap: -9, start: 1, concurrent: 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			gap := MinGap(c.requests)
			if want := time.Duration(c.gap) * time.Millisecond; gap != want && !(c.negativeIsFloor && gap < want) {
				t.Errorf("MinGap = %v, want %v", gap, want)
			}
			if got, want := MinStartGap(c.requests), time.Duration(c.start)*time.Millisecond; got != want {
				t.Errorf("MinStartGap = %v, want %v", got, want)
			}
			if got := MaxConcurrent(c.requests); got != c.concurrent {
				t.Errorf("MaxConcurrent = %d, want %d", got, c.concurrent)
			}
		})
	}
}

func TestLogTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Config{Latency: 30 * time.Millisecond, Hosts: 2})
		get(w, base0+"/")
		time.Sleep(70 * time.Millisecond)
		get(w, "http://127.0.0.1:8080/") // host 0 under another name
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() { get(w, "http://h1.localhost:8080/") })
		}
		wait.Wait()

		if got := w.MinGap(0); got != 70*time.Millisecond {
			t.Errorf("MinGap(0) = %v", got)
		}
		if got := w.MinStartGap(0); got != 100*time.Millisecond {
			t.Errorf("MinStartGap(0) = %v", got)
		}
		if got := w.MaxConcurrent(0); got != 1 {
			t.Errorf("MaxConcurrent(0) = %d", got)
		}
		if got := w.MaxConcurrent(1); got != 3 {
			t.Errorf("MaxConcurrent(1) = %d", got)
		}
		if got := w.MinGap(1); got != -30*time.Millisecond {
			t.Errorf("MinGap(1) = %v", got)
		}
		if got := w.Count(0, "/"); got != 2 {
			t.Errorf("Count = %d", got)
		}
	})
}

func TestJitterIsBoundedAndVaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Config{Latency: 10 * time.Millisecond, LatencyJitter: 20 * time.Millisecond})
		seen := map[time.Duration]bool{}
		for range 50 {
			get(w, base0+"/")
		}
		for _, r := range w.Requests() {
			took := r.End.Sub(r.At)
			seen[took] = true
			if took < 10*time.Millisecond || took >= 30*time.Millisecond {
				t.Errorf("took %v", took)
			}
		}
		if len(seen) < 40 {
			t.Errorf("only %d different latencies", len(seen))
		}
	})
}

func TestRequestEndsWithItsLastByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLog(0)
		var midway, written Request
		h := l.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4")
			_, _ = w.Write([]byte("ab"))
			midway = l.Requests()[0]
			time.Sleep(time.Second)
			_, _ = w.Write([]byte("cd"))
			written = l.Requests()[0]
			time.Sleep(time.Second) // fake time: the log must not count the time after the response
		}), func(*http.Request) string { return "x" })
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a?b=c", nil))

		if !midway.End.IsZero() || midway.Bytes != 2 || midway.Status != http.StatusOK {
			t.Errorf("midway: %+v", midway)
		}
		if took := written.End.Sub(written.At); took != time.Second || written.Bytes != 4 {
			t.Errorf("written: %+v", written)
		}
		if end := l.Requests()[0]; end != written || end.Path != "/a?b=c" || end.Host != "x" {
			t.Errorf("at the end: %+v", end)
		}
	})
}

func TestLogLimitAndReset(t *testing.T) {
	w := New(Config{LogLimit: 2})
	for range 5 {
		get(w, base0+"/")
	}
	if n, dropped := len(w.Requests()), w.Log().Dropped(); n != 2 || dropped != 3 {
		t.Errorf("%d kept, %d dropped", n, dropped)
	}
	w.Log().Reset()
	if n, dropped := len(w.Requests()), w.Log().Dropped(); n != 0 || dropped != 0 {
		t.Errorf("%d kept, %d dropped after Reset", n, dropped)
	}
}

// TestSequentialClientNeverOverlaps shows the promise of Request over real connections, kept alive
// or not.
func TestSequentialClientNeverOverlaps(t *testing.T) {
	for _, keep := range []bool{true, false} {
		w := New(Config{})
		s := Run(t, w)
		client := s.Client()
		client.Transport.(*http.Transport).DisableKeepAlives = !keep
		for page := range 50 {
			res, err := client.Get(s.URL(0, w.Path(0, page)))
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			last := w.Requests()[page]
			if err != nil || last.Status != http.StatusOK || last.Bytes != int(n) {
				t.Fatalf("read %d bytes, %v; log has %+v", n, err, last)
			}
		}
		if got := w.MaxConcurrent(0); got != 1 {
			t.Errorf("MaxConcurrent = %d", got)
		}
		if got := w.MinGap(0); got < 0 {
			t.Errorf("MinGap = %v", got)
		}
	}
}
