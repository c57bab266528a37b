package writer

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/streams/retention"
	"seine/internal/testing/await"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// smallStreams returns a bus whose streams hold a few thousand records.
func smallStreams(t *testing.T) *stages.Bus {
	limits := messages.DefaultStreamLimits()
	limits.RecordsBytes = 1 << 20
	return startBusOf(t, false, limits)
}

// patient returns a configuration whose files wait for more records than the test publishes.
func patient(t *testing.T) Config {
	c := testConfig(t)
	c.ChunkRecords, c.ChunkAge, c.ChunkBytes = maxRecords, crawlspec.Duration(maxAge), 1<<30
	return c
}

// Open files keep their records in the stream. They are committed before the stream is full,
// although neither their size nor their age requires it.
func TestFilesAreFinishedBeforeTheStreamIsFull(t *testing.T) {
	t.Parallel()
	bus := smallStreams(t)
	cfg := patient(t)
	publish(t, bus, "a", 0, 200) // a twelfth of the capacity
	w := start(t, bus, cfg, func(w *Writer) { w.lagEvery = 20 * time.Millisecond })
	w.catchUp()
	<-time.After(200 * time.Millisecond)
	if n := w.Totals().Files; n != 0 {
		t.Errorf("%d files of the few records", n)
	}
	publish(t, bus, "a", 200, 1200)
	await.Eventually(t, "commits", func() bool { return w.Totals().Records >= 200 })
	if err := w.Lagging(); err != nil {
		t.Error(err)
	}
	w.catchUp()
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 1200})
}

// A writer that cannot write reports its lag until it has caught up.
func TestLagIsTold(t *testing.T) {
	t.Parallel()
	bus := smallStreams(t)
	cfg := patient(t)
	var stuck atomic.Bool
	stuck.Store(true)
	w := start(t, bus, cfg, func(w *Writer) {
		w.lagEvery = 20 * time.Millisecond
		w.hook = func(step string) error {
			if step == output.StepEntrySynced && stuck.Load() {
				return errCut
			}
			return nil
		}
	})
	publish(t, bus, "a", 0, 1800)
	await.Eventually(t, "lag", func() bool { return w.Lagging() != nil })
	if err := w.Lagging(); !strings.Contains(err.Error(), "messages behind") || !strings.Contains(err.Error(), messages.StreamRecords) {
		t.Error(err)
	}
	stuck.Store(false)
	await.Eventually(t, "no lag", func() bool { return w.Lagging() == nil })
	w.catchUp()
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 1800})
}

// A writer with another name that joins late gets what the stream still holds. From then on no
// record is purged that it has not read, however far ahead the other writers are.
func TestSecondWriterHoldsWhatItLacks(t *testing.T) {
	t.Parallel()
	bus := smallStreams(t)
	j := retention.NewJanitor(bus)
	j.Streams = map[string]int{messages.StreamRecords: partitions}
	j.KeepShare, j.Every = 1e-9, 20*time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	swept := make(chan struct{})
	go func() { defer close(swept); _ = j.Run(ctx) }()
	defer func() { stop(); <-swept }()
	left := func() uint64 {
		s, err := bus.JS.Stream(t.Context(), messages.StreamRecords)
		check(t, err)
		return s.CachedInfo().State.Msgs
	}
	first := start(t, bus, testConfig(t))
	publish(t, bus, "a", 0, 400)
	await.Eventually(t, "all of it read and gone", func() bool { return first.Totals().Records == 400 && left() == 0 })

	cfg := testConfig(t)
	cfg.Name = "late"
	var stuck atomic.Bool
	stuck.Store(true)
	second := start(t, bus, cfg, func(w *Writer) {
		w.hook = func(step string) error {
			if stuck.Load() {
				return errors.New("stuck")
			}
			return nil
		}
	})
	await.Eventually(t, "its consumers", func() bool {
		for p := range partitions {
			if _, err := bus.JS.Consumer(t.Context(), messages.StreamRecords, second.consumer(p).Durable); err != nil {
				return false
			}
		}
		return true
	})
	publish(t, bus, "b", 0, 400)
	await.Eventually(t, "the first to be ahead", func() bool { return first.Totals().Records == 800 })
	<-time.After(10 * j.Every) // a janitor that ignores the second writer would have purged by then
	if n := left(); n != 400 {
		t.Errorf("%d records are left for the second writer, want 400", n)
	}
	stuck.Store(false)
	await.Eventually(t, "the second", func() bool { return second.Totals().Records == 400 && left() == 0 })
	first.end()
	second.end()
	wantExactly(t, cfg, map[string]int{"b": 400})
}
