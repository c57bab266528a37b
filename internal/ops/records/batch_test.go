package records

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// publish adds records with these ids to the stream.
func publish(t *testing.T, b *stages.Bus, crawl string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		m := messages.RecordMsg(crawl, 0, id, fmt.Appendf(nil, `{"kind":"p","id":%q}`, id))
		if _, err := b.JS.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// next reads a batch and returns the ids of its records.
func next(t *testing.T, b *stages.Bus, c Choice, from Position, e Extent) (string, Batch) {
	t.Helper()
	batch, err := ReadBatch(t.Context(), b, c, from, e)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range batch.Records {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " "), batch
}

func TestBatchesFollowEachOther(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	start, err := End(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if ids, batch := next(t, b, Choice{}, start, Extent{Most: 2}); ids != "" || batch.To != start {
		t.Errorf("%s to %+v, from %+v", ids, batch.To, start)
	}
	publish(t, b, "news", "a", "b", "c")
	publish(t, b, "other", "x")
	first, one := next(t, b, Choice{Crawl: "news"}, start, Extent{Most: 2})
	second, two := next(t, b, Choice{Crawl: "news"}, one.To, Extent{Most: 2})
	third, three := next(t, b, Choice{Crawl: "news"}, two.To, Extent{Most: 2})
	if first != "a b" || second != "c" || third != "" || three.To.Sequence != 4 {
		t.Errorf("%s, %s, %s, %+v", first, second, third, three.To)
	}
	if again, batch := next(t, b, Choice{Crawl: "news"}, start, Extent{Most: 100, Upto: one.To}); again != "a b" || batch.To != one.To {
		t.Errorf("a second time it is %s, to %+v", again, batch.To)
	}
	if all, _ := next(t, b, Choice{}, start, Extent{Most: 100}); all != "a b c x" {
		t.Errorf("of all crawls: %s", all)
	}
	if none, batch := next(t, b, Choice{Kind: "q"}, start, Extent{Most: 100}); none != "" || batch.To.Sequence != 4 {
		t.Errorf("of another kind: %s, %+v", none, batch.To)
	}
}

// A message with several records may be split over two batches.
func TestBatchesSplitMessages(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	var records []*nats.Msg
	for _, id := range []string{"a", "b", "c"} {
		records = append(records, messages.RecordMsg("news", 0, id, []byte(`{"n":1}`)))
	}
	if _, err := b.JS.PublishMsg(t.Context(), messages.JoinBatch(records)); err != nil {
		t.Fatal(err)
	}
	first, one := next(t, b, Choice{}, Position{}, Extent{Most: 2})
	second, two := next(t, b, Choice{}, one.To, Extent{Most: 2})
	if first != "a b" || second != "c" || two.To.Sequence != 1 || two.To.Parts != 0 {
		t.Errorf("%s, %s, %+v", first, second, two.To)
	}
	if again, _ := next(t, b, Choice{}, Position{}, Extent{Most: 3, Upto: one.To}); again != "a b" {
		t.Errorf("a second time it is %s", again)
	}
}

// A batch that is not full waits for more records.
func TestBatchFillsUp(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	publish(t, b, "news", "a")
	read := make(chan string, 1)
	go func() {
		ids, _ := next(t, b, Choice{}, Position{}, Extent{Most: 2, Fill: time.Minute})
		read <- ids
	}()
	publish(t, b, "news", "b")
	if ids := <-read; ids != "a b" {
		t.Errorf("%s", ids)
	}
}

// Records that the stream has dropped are counted, and a re-created stream is read from its
// beginning.
func TestBatchTellsWhatIsMissed(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	publish(t, b, "news", "a", "b", "c")
	_, one := next(t, b, Choice{}, Position{}, Extent{Most: 1})
	if err := natstest.StreamOf(t, b.JS, messages.StreamRecords).Purge(t.Context(), jetstream.WithPurgeSequence(3)); err != nil {
		t.Fatal(err)
	}
	if ids, batch := next(t, b, Choice{}, one.To, Extent{Most: 9}); ids != "c" || batch.Missed != 1 {
		t.Errorf("%s, %d missed", ids, batch.Missed)
	}
	other := Position{Created: one.To.Created.Add(-time.Hour), Sequence: 500}
	if ids, _ := next(t, b, Choice{}, other, Extent{Most: 9}); ids != "c" {
		t.Errorf("of a stream made anew: %s", ids)
	}
}

// A stream that lost its end, or was re-created, is read from the records stored since, and the
// batch reports the loss.
func TestBatchBeginsAgainWhereTheStreamLostItsEnd(t *testing.T) {
	t.Parallel()
	lose := func(t *testing.T, b *stages.Bus, from uint64) { // as the restore of a backup does
		s := natstest.StreamOf(t, b.JS, messages.StreamRecords)
		info, err := s.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for seq := from; seq <= info.State.LastSeq; seq++ {
			if err := s.DeleteMsg(t.Context(), seq); err != nil {
				t.Fatal(err)
			}
		}
	}
	recreate := func(t *testing.T, b *stages.Bus) {
		s := natstest.StreamOf(t, b.JS, messages.StreamRecords)
		config := s.CachedInfo().Config
		if err := b.JS.DeleteStream(t.Context(), messages.StreamRecords); err != nil {
			t.Fatal(err)
		}
		if _, err := b.JS.CreateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		at    int // number of records that were read
		since []string
		want  string
	}{
		{"shorter", 5, []string{"x", "y"}, "x y"}, {"as long", 3, []string{"x", "y", "z"}, "x y z"}, {"longer", 2, []string{"x", "y", "z"}, "x y z"}, {"empty", 4, nil, ""},
	} {
		t.Run("re-created, "+c.name, func(t *testing.T) {
			_, b := stagestest.Open(t)
			publish(t, b, "news", "a", "b", "c", "d", "e")
			_, read := next(t, b, Choice{}, Position{}, Extent{Most: c.at})
			recreate(t, b)
			publish(t, b, "news", c.since...)
			ids, batch := next(t, b, Choice{}, read.To, Extent{Most: 9})
			if ids != c.want || batch.Missed == 0 || !batch.Lost {
				t.Errorf("%q, %d missed, lost %t; want %q", ids, batch.Missed, batch.Lost, c.want)
			}
			if ids, again := next(t, b, Choice{}, batch.To, Extent{Most: 9}); ids != "" || again.Missed != 0 || again.Lost {
				t.Errorf("the batch after it: %q, %d missed, lost %t", ids, again.Missed, again.Lost)
			}
		})
	}
	// Positions in a former state of the stream, as after a restore, which keeps the creation time
	// of the stream.
	for _, c := range []struct {
		name string
		seq  uint64
		time time.Duration // after "b", before "c"
		want string
	}{
		{"beyond the end", 100, 0, "c d e"}, {"at the end", 5, 0, "c d e"}, {"before the end", 3, 0, "c d e"}, {"all told", 100, time.Hour, ""},
	} {
		t.Run("restored, "+c.name, func(t *testing.T) {
			_, b := stagestest.Open(t)
			publish(t, b, "news", "a", "b")
			told, err := End(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			publish(t, b, "news", "c", "d", "e")
			told.Sequence, told.Time = c.seq, told.Time.Add(1+c.time)
			ids, batch := next(t, b, Choice{}, told, Extent{Most: 9})
			if ids != c.want || batch.Missed == 0 || !batch.Lost {
				t.Errorf("%q, %d missed, lost %t; want %q", ids, batch.Missed, batch.Lost, c.want)
			}
			if ids, again := next(t, b, Choice{}, batch.To, Extent{Most: 9}); ids != "" || again.Missed != 0 || again.Lost {
				t.Errorf("the batch after it: %q, %d missed, lost %t", ids, again.Missed, again.Lost)
			}
		})
	}
	t.Run("messages removed", func(t *testing.T) { // not a loss of the position
		_, b := stagestest.Open(t)
		publish(t, b, "news", "a", "b", "c", "d")
		_, read := next(t, b, Choice{}, Position{}, Extent{Most: 3})
		lose(t, b, 3)
		publish(t, b, "news", "x")
		if ids, batch := next(t, b, Choice{}, read.To, Extent{Most: 9}); ids != "x" || batch.Lost {
			t.Errorf("%q, lost %t", ids, batch.Lost)
		}
	})
}

// Reading leaves no consumers behind, however often and however it ends.
func TestReadingLeavesNoConsumers(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	publish(t, b, "news", strings.Split(strings.Repeat("a b c d e f g h ", 5), " ")[:40]...)
	at := Position{}
	for range 20 { // a webhook with one record per post that catches up
		_, batch := next(t, b, Choice{}, at, Extent{Most: 1})
		at = batch.To
		if _, _, err := Newest(t.Context(), b, Choice{Crawl: "news"}, 10); err != nil {
			t.Fatal(err)
		}
		if err := MayRead(t.Context(), b, Choice{}); err != nil {
			t.Fatal(err)
		}
	}
	consumers := func() int {
		info, err := natstest.StreamOf(t, b.JS, messages.StreamRecords).Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Consumers
	}
	if n := consumers(); n != 0 {
		t.Errorf("%d consumers are left", n)
	}
	for range 20 { // cancelled reads, perhaps while the consumer is created: the server removes what remains
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_ = Tail(ctx, b, Choice{}, func([]byte) bool { return true })
		_, _ = ReadBatch(ctx, b, Choice{}, at, Extent{Most: 1})
		cancel()
	}
	await.Eventually(t, "there are no consumers", func() bool { return consumers() == 0 })
}
