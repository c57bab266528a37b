package writer

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/nats-io/jsm.go"
	"github.com/nats-io/nats.go"

	"seine/internal/testing/await"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/jsclient"
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

// A record that was written, and then lost from the stream by a restore, is known in another partition, too, though its sequence in
// the stream was a higher one than that with which its number of partitions ended.
func TestRepeatsOfALostTailUnderAnotherNumberOfPartitions(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	forgetful(t, bus.JS)
	cfg := testConfig(t)
	write := func() *running {
		t.Helper()
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		return w
	}
	publish(t, bus, "a", 0, 32)
	write()
	manager, err := jsm.New(bus.JS.Conn())
	check(t, err)
	records, err := manager.LoadStream(messages.StreamRecords)
	check(t, err)
	dir := t.TempDir()
	_, err = records.SnapshotToDirectory(t.Context(), dir)
	check(t, err)
	publish(t, bus, "a", 32, 64)
	write()
	config := records.Configuration()
	info, err := records.LatestInformation()
	check(t, err)
	config.Metadata[jsclient.KeyMade] = info.Created.Format(time.RFC3339Nano)
	check(t, records.Delete())
	_, _, err = manager.RestoreSnapshotFromDirectory(t.Context(), messages.StreamRecords, dir, jsm.RestoreConfiguration(config))
	check(t, err)
	write()
	renumber(t, bus, 6)
	for n := 32; n < 64; n++ {
		m := record("a", n, 200)
		m.Subject = messages.SubjectRecords("a", n%6)
		check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), m))
	}
	if got := write().Totals(); got.Records != 0 {
		t.Errorf("%d records were written again", got.Records)
	}
	wantExactly(t, cfg, map[string]int{"a": 64})
}
