package writer

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/await"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// renumber makes the number of partitions another, as `seine repartition` does.
func renumber(t *testing.T, bus *stages.Bus, to int) {
	t.Helper()
	s, err := bus.JS.Stream(t.Context(), messages.StreamRecords)
	check(t, err)
	info := s.CachedInfo()
	former, err := bus.FormerLayouts(t.Context())
	check(t, err)
	former = append(former, messages.FormerLayout{
		ID: fmt.Sprint(len(former)), Partitions: bus.Layout.Partitions, Ended: time.Now(),
		Ends: map[string]messages.Position{messages.StreamRecords: {Created: info.Created, Sequence: info.State.LastSeq}},
	})
	text, err := json.Marshal(former)
	check(t, err)
	kv, err := bus.Bucket(t.Context(), messages.BucketMeta)
	check(t, err)
	_, err = kv.Put(t.Context(), messages.KeyFormer, text)
	check(t, err)
	bus.Layout.Widest = max(bus.Layout.Lanes(), to)
	bus.Layout.Partitions = to
}

// A record that comes again after the number of partitions was changed comes in another
// partition: it is known there too, by a writer with its index and by one that makes it again.
func TestRepeatsUnderAnotherNumberOfPartitions(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	forgetful(t, bus.JS)
	cfg := testConfig(t)
	w := start(t, bus, cfg)
	publish(t, bus, "a", 0, 64)
	w.catchUp()
	w.end()
	again := func(partitions int) {
		t.Helper()
		for n := range 64 {
			m := record("a", n, 200)
			// Of a page whose domain has the hash n.
			m.Subject = messages.SubjectRecords("a", n%partitions)
			await.Eventually(t, "forgotten identity", func() bool {
				ack, err := bus.JS.PublishMsg(t.Context(), m)
				return err == nil && !ack.Duplicate
			})
		}
	}
	for i, to := range []int{16, 6, 4} {
		renumber(t, bus, to)
		if i == 1 {
			check(t, os.RemoveAll(cfg.State))
		}
		w := start(t, bus, cfg)
		again(to)
		w.catchUp()
		w.end()
		if got := w.Totals(); got.Records != 0 || got.Repeats != 64 {
			t.Errorf("with %d partitions: totals %+v", to, got)
		}
		wantExactly(t, cfg, map[string]int{"a": 64})
	}
}

// A writer of a new name has what came under a larger number of partitions, too.
func TestWriterReadsWhatCameUnderMorePartitions(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 40)
	renumber(t, bus, 2)
	for n := 40; n < 60; n++ {
		m := record("a", n, 200)
		m.Subject = messages.SubjectRecords("a", n%2)
		check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), []*nats.Msg{m}...))
	}
	cfg := testConfig(t)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 60})
}
