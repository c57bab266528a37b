package fetcher

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// On a server that accepts only small messages, a page is requested once: its body goes to the
// object store, in chunks that fit, and its header is cut.
func TestFetcher_MaxPayloadIsSmall_BodyIsStored(t *testing.T) {
	o := natstest.Options(t)
	o.MaxPayload = 64 << 10
	bus, err := stages.Dial("", t.Name(), slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, o)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	if err := bus.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	specs, err := stages.OpenSpecs(t.Context(), bus)
	if err != nil {
		t.Fatal(err)
	}
	spec := localSpec()
	spec.Archive = true
	if _, err := specs.Put(t.Context(), testCrawl, &spec); err != nil {
		t.Fatal(err)
	}
	f, err := New(DefaultConfig(), bus, specs)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.client.Close)
	var asked atomic.Int64
	body := natstest.NoiseBytes(1, 200<<10)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		for _, c := range "abcdefgh" {
			w.Header().Set("X-"+string(c), strings.Repeat("\x7f", 1000))
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(body)
	}))
	t.Cleanup(site.Close)
	req := &messages.Request{Crawl: testCrawl, Rev: 1, URL: site.URL + "/", Visit: messages.Visit{URL: messages.HashURL(site.URL + "/"), Round: 1}, Attempt: 1}
	out, err := f.handle(t.Context(), &stages.Message{Subject: messages.SubjectFetch(testCrawl, 0), Data: req.Encode(), Deliveries: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := stages.NewPublisher(bus, "test").Publish(t.Context(), out.Messages()...); err != nil {
		t.Fatal(err)
	}
	if asked.Load() != 1 {
		t.Errorf("the site was asked %d times", asked.Load())
	}
	raw, err := natstest.StreamOf(t, bus.JS, messages.StreamPages).GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	page, err := messages.DecodePage(raw.Header)
	if err != nil || page.BodyObject == "" {
		t.Fatalf("page %+v, %v: its body is not in the object store", page, err)
	}
}
