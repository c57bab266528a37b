package writer

import (
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

// batchOf joins records into one batch message of partition 0.
func batchOf(msgs ...*nats.Msg) *nats.Msg {
	for _, m := range msgs {
		m.Subject = messages.SubjectRecords("a", 0)
	}
	return messages.JoinBatch(msgs)
}

func records(from, to int) (all []*nats.Msg) {
	for n := from; n < to; n++ {
		all = append(all, record("a", n, 200))
	}
	return all
}

func TestRecordsOfBatchesAreWrittenOnce(t *testing.T) {
	t.Parallel()
	bus, cfg := startBus(t, false), testConfig(t)
	publishInBatches(t, bus, "a", 0, 500)
	publish(t, bus, "a", 100, 200) // duplicates, alone and in other batches
	publishInBatches(t, bus, "a", 50, 330)
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 500})
	wantManifest(t, cfg, "a", 500, false)
	if got := w.Totals(); got.Records != 500 || got.Repeats != 380 || got.Bad != 0 {
		t.Errorf("totals %+v", got)
	}
}

func TestNoFileHasPartOfABatchNorTooManyRecords(t *testing.T) {
	t.Parallel()
	bus, cfg := startBus(t, false), testConfig(t)
	cfg.ChunkRecords = 10
	sizes := []int{1, 6, 4, 3, 3, 3, 3, 10, 9, 25, 1} // so 7, 4+3+3, 3+3, 10, 9, 25, 1
	var msgs []*nats.Msg
	from := 0
	for _, n := range sizes {
		msgs = append(msgs, batchOf(records(from, from+n)...))
		from += n
	}
	for _, m := range msgs {
		_, err := bus.JS.PublishMsg(t.Context(), m)
		check(t, err)
	}
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	wantExactly(t, cfg, map[string]int{"a": from})
	var counts []int
	commits, err := cfg.ReadCommits()
	check(t, err)
	for _, c := range commits {
		counts = append(counts, c.Records())
	}
	if !slices.Equal(counts, []int{7, 10, 6, 10, 9, 25, 1}) {
		t.Errorf("commits of %v records", counts)
	}
}

func TestBadRecordOfABatchGoesToDeadAlone(t *testing.T) {
	t.Parallel()
	bus, cfg := startBus(t, false), testConfig(t)
	all := records(0, 6)
	all[2].Data, all[4].Data = []byte("no JSON"), []byte("[]")
	broken := batchOf(records(10, 13)...)
	broken.Header.Set(messages.HeaderBatch, "4")
	for _, m := range []*nats.Msg{batchOf(all...), broken, batchOf(records(6, 8)...)} {
		_, err := bus.JS.PublishMsg(t.Context(), m)
		check(t, err)
	}
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	if got := w.Totals(); got.Records != 6 || got.Bad != 3 {
		t.Errorf("totals %+v", got)
	}
	var dead []string
	for seq := uint64(1); seq <= natstest.State(t, bus.JS, messages.StreamDead).LastSeq; seq++ {
		m, err := natstest.StreamOf(t, bus.JS, messages.StreamDead).GetMsg(t.Context(), seq)
		check(t, err)
		dead = append(dead, string(m.Data))
	}
	if len(dead) != 3 || dead[0] != "no JSON" || dead[1] != "[]" || strings.Count(dead[2], "\n") != 2 {
		t.Errorf("dead letters %q", dead)
	}
}
