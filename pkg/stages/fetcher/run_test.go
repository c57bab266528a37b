package fetcher

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// TestRun uses the streams: every request has one result, pages and candidates are in the right
// streams, FETCH is empty, and Run returns.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newFetcherFixture(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	pub := stages.NewPublisher(s.bus, messages.StageFrontier)
	want := map[messages.Class]int{}
	for path, class := range map[string]messages.Class{
		"/": messages.OK, "/special/ok": messages.OK, "/special/big?mb=2": messages.OK, "/private/x": messages.RobotsDenied,
		"/special/redirect-chain?n=2": messages.Redirect, "/nowhere": messages.Gone,
	} {
		want[class]++
		publish(t, pub, request(s.url(path)))
	}
	bad := nats.NewMsg(messages.SubjectFetch(testCrawl, 0))
	bad.Data = []byte("no request")
	if err := pub.Publish(ctx, bad); err != nil {
		t.Fatal(err)
	}
	got := map[messages.Class]int{}
	for _, m := range take(t, s.bus, messages.StreamResults, 6) {
		r, err := messages.DecodeResult(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		got[r.Class]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("results %v, want %v", got, want)
	}
	for _, m := range take(t, s.bus, messages.StreamPages, 3) {
		p, err := messages.DecodePage(m.Header)
		if err != nil {
			t.Fatal(err)
		}
		s.body(p, m.Data)
	}
	for _, m := range take(t, s.bus, messages.StreamURLs, 1) {
		if _, err := messages.DecodeCandidates(m.Data); err != nil {
			t.Fatal(err)
		}
	}
	take(t, s.bus, messages.StreamDead, 1)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	fetch, err := s.bus.JS.Stream(t.Context(), messages.StreamFetch)
	if err != nil {
		t.Fatal(err)
	}
	if n := fetch.CachedInfo().State.Msgs; n != 0 {
		t.Errorf("%d requests left in FETCH", n)
	}
}

func publish(t testing.TB, pub *stages.Publisher, req *messages.Request) {
	t.Helper()
	m := nats.NewMsg(messages.SubjectFetch(req.Crawl, messages.Partition(req.URL, 16)))
	m.Header.Set(nats.MsgIdHdr, req.ID())
	m.Data = req.Encode()
	if err := pub.Publish(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// take reads the first n messages of a stream, including those in batches, and waits for them.
func take(t testing.TB, b *stages.Bus, stream string, n int) []messages.BatchPart {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := b.JS.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var msgs []messages.BatchPart
	for len(msgs) < n {
		m, err := c.Next(jetstream.FetchContext(ctx))
		if err != nil {
			t.Fatalf("message %d of %s: %v", len(msgs)+1, stream, err)
		}
		parts, err := messages.SplitBatch(m.Headers(), m.Data())
		if err != nil {
			t.Fatal(err)
		}
		msgs = append(msgs, parts...)
	}
	return msgs
}
