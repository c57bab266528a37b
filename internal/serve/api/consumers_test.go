package api_test

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"seine/internal/run/connect"
	"seine/internal/testing/await"
)

// However many requests a caller sends, no consumers remain in NATS.
func TestRequestsLeaveNoConsumers(t *testing.T) {
	t.Parallel()
	s, seed, data := crawled(t)
	bus, err := (&connect.Operator{Data: data}).Dial("test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	count := func() int {
		info, err := bus.JS.AccountInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.Consumers
	}
	const others = 5 // the crawl and the server may add a few consumers meanwhile; 120 requests would leave more
	before := count()
	for i := range 30 {
		for _, path := range []string{
			"/crawls/shop/explain?within=1m&url=" + seed + "/" + string(rune('0'+i%10)), "/dead-letters?limit=5", "/crawls/shop/spec/revisions", "/records?limit=2",
		} {
			if a := s.do("GET", path, ""); a.status != http.StatusOK {
				t.Fatalf("%s: %v", path, a)
			}
		}
	}
	began := time.Now()
	await.Eventually(t, "the consumers of the requests are gone", func() bool { return count() <= before+others })
	if took := time.Since(began); took > 15*time.Second { // NATS removed them, which takes 30 s
		t.Errorf("consumers were left for %s", took)
	}
}
