package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/base/tracing"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

// publishAll publishes a message that is refused for now, and behind it msgs, each from its own
// goroutine.
func publishAll(t *testing.T, b *Bus, p *Publisher, msgs []*nats.Msg) *await.Job {
	t.Helper()
	natstest.Limit(t, b.JS, messages.StreamRecords, 1)
	natstest.Send(t, b.JS, "seine.records.other.0", 1) // the stream is full
	first := await.Start(t, func(ctx context.Context) error { return p.Publish(ctx, msg(records, "first", "first")) })
	await.Eventually(t, "the first is held back", func() bool { return p.waiting.Load() == 1 })
	rest := await.Start(t, func(ctx context.Context) error {
		var g sync.WaitGroup
		errs := make([]error, len(msgs))
		for i, m := range msgs {
			g.Go(func() { errs[i] = p.Publish(ctx, m) })
		}
		g.Wait()
		return errors.Join(errs...)
	})
	await.Eventually(t, "the others wait behind it", func() bool { return waitBehind(p) == len(msgs) })
	natstest.Limit(t, b.JS, messages.StreamRecords, -1)
	if err := first.Wait(); err != nil {
		t.Fatal(err)
	}
	return rest
}

func TestMessagesThatWaitTogetherLeaveTogether(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	p := NewPublisher(b, "test")
	var msgs []*nats.Msg
	var want []string
	for i := range 40 {
		want = append(want, fmt.Sprintf("%02d", i))
		msgs = append(msgs, msg(records, "id"+want[i], want[i]))
	}
	if err := publishAll(t, b, p, msgs).Wait(); err != nil {
		t.Fatal(err)
	}
	got := natstest.Stored(t, b.JS, messages.StreamRecords)[2:]
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("stored %q", got)
	}
	if st := natstest.State(t, b.JS, messages.StreamRecords); st.Msgs != 3 {
		t.Errorf("%d messages for 40", st.Msgs-2)
	}
	await.Eventually(t, "the subject is forgotten", func() bool {
		p.batches.mu.Lock()
		defer p.batches.mu.Unlock()
		return len(p.batches.waiting) == 0
	})
}

func TestBatchIsBounded(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	p := NewPublisher(b, "test")
	var msgs []*nats.Msg
	for i := range 300 {
		msgs = append(msgs, msg(records, fmt.Sprint("small", i), "{}"))
	}
	for i := range 20 {
		msgs = append(msgs, msg(records, fmt.Sprint("large", i), strings.Repeat("x", maxBatchedMsg)))
	}
	if err := publishAll(t, b, p, msgs).Wait(); err != nil {
		t.Fatal(err)
	}
	total := 0
	st := natstest.State(t, b.JS, messages.StreamRecords)
	for seq := st.FirstSeq; seq <= st.LastSeq; seq++ {
		m, err := natstest.StreamOf(t, b.JS, messages.StreamRecords).GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		n := len(messages.BatchIDs(m.Header))
		if total += n; n > messages.MaxBatch || len(m.Data) > messages.BatchBytes(1<<20) {
			t.Errorf("a batch of %d messages, %d bytes", n, len(m.Data))
		}
	}
	if total != len(msgs)+2 {
		t.Errorf("%d of %d are stored", total, len(msgs)+2)
	}
}

func TestWhatCannotBeInABatchLeavesAlone(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	traced := msg(records, "t", "{}")
	traced.Header.Set(tracing.Header, "00-x")
	batch := messages.JoinBatch([]*nats.Msg{msg(records, "a", "{}"), msg(records, "b", "{}")})
	p := NewPublisher(b, "test")
	for name, m := range map[string]*nats.Msg{
		"of several lines": msg(records, "l", "{}\n{}"), "empty": msg(records, "e", ""), "traced": traced, "a batch": batch,
		"large": msg(records, "x", strings.Repeat("x", maxBatchedMsg+1)), "of another stream": msg(pages, "p", "{}"),
	} {
		if p.batches.takes(m) {
			t.Errorf("%s: taken for a batch", name)
		}
	}
	b.Unbatched = true
	if p.batches.takes(msg(records, "a", "{}")) {
		t.Error("taken although the bus is unbatched")
	}
}

// TestBatchThatIsRefusedAsAWholeIsSentInParts covers a limit of the stream that each message keeps,
// but not the batch.
func TestBatchThatIsRefusedAsAWholeIsSentInParts(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	c := natstest.StreamOf(t, b.JS, messages.StreamRecords).CachedInfo().Config
	c.MaxMsgSize = 1000
	if _, err := b.JS.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	p := NewPublisher(b, "test")
	var msgs []*nats.Msg
	for i := range 10 {
		msgs = append(msgs, msg(records, fmt.Sprint(i), strings.Repeat("x", 500)))
	}
	if err := publishAll(t, b, p, msgs).Wait(); err != nil {
		t.Errorf("publish returned %v", err)
	}
	if got := natstest.Stored(t, b.JS, messages.StreamRecords); len(got) != 12 {
		t.Errorf("%d are stored", len(got))
	}
}

// TestMessageBehindOneThatIsGivenUpIsSent: canceling a message does not cancel those behind it.
func TestMessageBehindOneThatIsGivenUpIsSent(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Limit(t, b.JS, messages.StreamRecords, 1)
	natstest.Send(t, b.JS, "seine.records.other.0", 1)
	p := NewPublisher(b, "test")
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	first := await.Start(t, func(context.Context) error { return p.Publish(ctx, msg(records, "a", "a")) })
	await.Eventually(t, "it is held back", func() bool { return p.waiting.Load() == 1 })
	behind := await.Start(t, func(ctx context.Context) error { return p.Publish(ctx, msg(records, "b", "b")) })
	await.Eventually(t, "one waits behind it", func() bool { return waitBehind(p) == 1 })
	cancel(why)
	if err := first.Wait(); !errors.Is(err, why) {
		t.Errorf("Publish returned %v", err)
	}
	natstest.Limit(t, b.JS, messages.StreamRecords, -1)
	if err := behind.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := natstest.Stored(t, b.JS, messages.StreamRecords); !slices.Equal(got, []string{"0", "b"}) {
		t.Errorf("stored %q", got)
	}
}

// waitBehind counts the messages queued behind an in-flight message to records.
func waitBehind(p *Publisher) int {
	p.batches.mu.Lock()
	defer p.batches.mu.Unlock()
	return len(p.batches.waiting[records])
}

func TestPartsOfABatchKnowTheirPlace(t *testing.T) {
	batch := messages.JoinBatch([]*nats.Msg{msg(records, "a", "1"), msg(records, "b", "2")})
	m := &Message{Subject: records, Header: batch.Header, Data: batch.Data, Sequence: 7, Stream: messages.StreamRecords}
	parts, err := m.Parts()
	if err != nil || len(parts) != 2 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	letters := make(map[string]bool)
	for i, part := range parts {
		if part.Part != i || part.Sequence != 7 || part.Header.Get(nats.MsgIdHdr) != []string{"a", "b"}[i] {
			t.Errorf("part %d: %+v", i, part)
		}
		letters[DeadLetter("writer", part, errors.New("bad")).Header.Get(nats.MsgIdHdr)] = true
	}
	if len(letters) != 2 {
		t.Errorf("the dead letters of two parts are one: %v", letters)
	}
}
