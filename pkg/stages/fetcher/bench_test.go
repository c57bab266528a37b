package fetcher

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

const benchWorkers = 32

func benchStage(b *testing.B) *fetcherFixture {
	return newFetcherFixture(b, func(_ *Config, _ *crawlspec.Spec, w *testweb.Config) { w.LogLimit = 1 })
}

// BenchmarkFetch measures everything that the stage does for one page except for the streams:
// decode the request, robots.txt from memory, fetch, compose.
func BenchmarkFetch(b *testing.B) {
	s := benchStage(b)
	s.benchPages(b, s.url("/special/ok"))
}

// BenchmarkFetch16K is BenchmarkFetch with a page of the usual size.
func BenchmarkFetch16K(b *testing.B) {
	s := benchStage(b)
	s.web.Handle(0, "/page", page16K)
	s.benchPages(b, s.url("/page"))
}

var sixteenK = []byte("<!DOCTYPE html>" + strings.Repeat("<p>The river runs on and on.</p>\n", 500))

func page16K(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Length", strconv.Itoa(len(sixteenK)))
	_, _ = w.Write(sixteenK)
}

// benchPages has each worker make its own request, again and again.
func (s *fetcherFixture) benchPages(b *testing.B, url string) {
	b.Helper()
	b.ReportAllocs()
	b.SetParallelism(benchWorkers / 2)
	b.ResetTimer()
	var round atomic.Uint64
	b.RunParallel(func(p *testing.PB) {
		req := request(url)
		req.Visit.Round = round.Add(1)
		m := messageOf(req)
		for p.Next() {
			out, err := s.handle(context.Background(), m)
			if err != nil || len(out.First) != 1 {
				b.Errorf("%v: %d messages", err, len(out.First))
				return
			}
			out.Free()
		}
	})
}

// BenchmarkBareClient is net/http alone, reading the body of the same page.
func BenchmarkBareClient(b *testing.B) {
	s := benchStage(b)
	benchBare(b, s.url("/special/ok"))
}

// BenchmarkBareClient16K is BenchmarkBareClient with a page of the usual size.
func BenchmarkBareClient16K(b *testing.B) {
	s := benchStage(b)
	s.web.Handle(0, "/page", page16K)
	benchBare(b, s.url("/page"))
}

func benchBare(b *testing.B, url string) {
	b.Helper()
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}, Timeout: time.Minute}
	defer c.CloseIdleConnections()
	url = "http://127.0.0.1" + url[strings.LastIndexByte(url, ':'):]
	b.ReportAllocs()
	b.SetParallelism(benchWorkers / 2)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			r, err := c.Get(url)
			if err != nil {
				b.Error(err)
				return
			}
			if _, err := io.ReadAll(r.Body); err != nil {
				b.Error(err)
			}
			_ = r.Body.Close()
		}
	})
}

// BenchmarkStage reads requests from FETCH and stores pages and results, with the NATS server in
// this process.
func BenchmarkStage(b *testing.B) {
	s := benchStage(b)
	s.web.Handle(0, "/page", page16K)
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	pub := stages.NewPublisher(s.bus, messages.StageFrontier)
	results, err := s.bus.JS.Stream(ctx, messages.StreamResults)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	go func() { ended <- s.Run(ctx) }()
	var next atomic.Int64
	b.SetParallelism(benchWorkers / 2)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			publish(b, pub, request(s.url("/page?n="+strconv.FormatInt(next.Add(1), 10))))
		}
	})
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		info, err := results.Info(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if info.State.Msgs >= uint64(b.N) {
			break
		}
	}
	b.StopTimer()
	stop()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}
