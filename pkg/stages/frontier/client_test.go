package frontier

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// The client queries all partitions over NATS.
func TestClientAsksAllPartitions(t *testing.T) {
	t.Parallel()
	a := newTakeoverFixture(t)
	f := a.frontier(a.store(), time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	defer func() {
		cancel()
		a.must(<-done)
	}()
	var want []string
	for i := range 6 {
		url := fmt.Sprintf("https://h%d.test/", i)
		want = append(want, url)
		a.publish(messages.SubjectSeeds("c"), "", []byte(url))
		e := a.take(1)[0]
		res := messages.Result{
			Crawl: "c", URL: url, Visit: e.Visit, Attempt: 1, Class: messages.Gone, Status: 404,
			Started: time.UnixMilli(int64(i)),
		}
		a.publish(messages.SubjectResults("c", messages.Partition(url, 2)), "", res.Encode())
		a.must(e.m.Ack())
	}
	c := frontierapi.Client{Bus: a.bus}
	a.eventually("all have failed", func() bool {
		st, err := c.Status(t.Context(), "c")
		return err == nil && st.Failed == int64(len(want))
	})
	var got []string
	a.must(c.Failed(t.Context(), "c", "gone", func(f *frontierapi.FailedURL) error { got = append(got, f.URL); return nil }))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("failed are %q, want %q", got, want)
	}
	why, err := c.Reasons(t.Context(), "c")
	a.must(err)
	if f := why.Failures; len(f) != 1 || f[0].Name != "gone" || f[0].URLs != 6 || f[0].Example == nil || !slices.Contains(want, f[0].Example.URL) {
		t.Errorf("reasons of six failures by gone: %+v", why)
	}
	s, err := c.Survey(t.Context(), "c", 4)
	a.must(err)
	if len(s.Troubles) != 4 || s.Troubles[0].URL != want[5] || s.Troubles[3].URL != want[2] {
		t.Errorf("the last troubles are %+v", s.Troubles)
	}
	if err := c.Failed(t.Context(), "c", "bad_luck", nil); err == nil {
		t.Error("an unknown class is taken")
	}
}
