package records

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// publish puts records with these texts into the stream.
func publish(t *testing.T, b *stages.Bus, crawl string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		m := messages.RecordMsg(crawl, 0, id, fmt.Appendf(nil, `{"kind":"p","id":%q}`, id))
		if _, err := b.JS.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// next reads a batch, and returns the identities of its records.
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

// A message that holds several records may be in two batches.
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

// A batch that is not full waits for more.
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

// What the stream has no more is counted, and a stream that was made anew is read from its beginning.
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
