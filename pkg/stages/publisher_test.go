package stages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

func TestPublisherFull(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Limit(t, b.JS, messages.StreamRecords, 2)
	p := NewPublisher(b, "test")
	var msgs []*nats.Msg
	for i := range 5 {
		msgs = append(msgs, msg(fmt.Sprint("seine.records.c.", i), "", fmt.Sprint(i))) // with one subject, they would be a batch
	}
	j := await.Start(t, func(ctx context.Context) error { return p.Publish(ctx, msgs...) })
	await.Eventually(t, "they are held back", func() bool { return p.waiting.Load() == 1 })
	if got := len(natstest.Stored(t, b.JS, messages.StreamRecords)); got != 2 {
		t.Fatalf("%d are stored", got)
	}
	natstest.Limit(t, b.JS, messages.StreamRecords, 10)
	if err := j.Wait(); err != nil {
		t.Fatal(err)
	}
	got := natstest.Stored(t, b.JS, messages.StreamRecords)
	slices.Sort(got)
	if !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) || p.waiting.Load() != 0 {
		t.Errorf("stored %q, %d wait", got, p.waiting.Load())
	}
}

func TestPublisherCancelled(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	natstest.Limit(t, b.JS, messages.StreamRecords, 1)
	p := NewPublisher(b, "test")
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	j := await.Start(t, func(context.Context) error {
		return p.Publish(ctx, msg(records, "", "a"), msg("seine.records.c.1", "", "b"))
	})
	await.Eventually(t, "it is held back", func() bool { return p.waiting.Load() == 1 })
	cancel(why)
	if err := j.Wait(); !errors.Is(err, why) {
		t.Errorf("Publish returned %v", err)
	}
}

func TestPublisherUnpublishable(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	if _, err := b.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"other"}, MaxMsgSize: 1000}); err != nil {
		t.Fatal(err)
	}
	header := msg(records, "", "x")
	header.Header.Set("X", strings.Repeat("x", 1<<16))
	p := NewPublisher(b, "test")
	for name, m := range map[string]*nats.Msg{
		"over max_payload":          msg(records, "", strings.Repeat("x", 1<<20+1)),
		"over max_msg_size":         msg("other", "", strings.Repeat("x", 1001)),
		"header over 64 KiB":        header,
		"a subject that is not one": msg("seine.records.a b.0", "", "x"),
		"no subject":                msg("", "", "x"),
	} {
		t.Run(name, func(t *testing.T) {
			j := await.Start(t, func(ctx context.Context) error { return p.Publish(ctx, msg(records, "", "fine"), m) })
			if err := j.Wait(); !errors.Is(err, ErrUnpublishable) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A max_msg_size that somebody sets on a stream of Seine is removed soon: messages that it refuses
// wait until then.
func TestPublisher_MaxMsgSizeEdited_WaitsUntilRestored(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	limit := func(stream string, most int32) {
		t.Helper()
		c := natstest.StreamOf(t, b.JS, stream).CachedInfo().Config
		c.MaxMsgSize = most
		if _, err := b.JS.UpdateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for stream, m := range map[string]*nats.Msg{
		messages.StreamRecords: msg(records, "", "large"),
		messages.StreamDead:    DeadLetter("parser", &Message{Subject: pages, Stream: messages.StreamPages, Sequence: 7, Data: []byte("large")}, errors.New("bad")),
	} {
		limit(stream, 1)
		p := NewPublisher(b, "test")
		j := await.Start(t, func(ctx context.Context) error { return p.Publish(ctx, m) })
		await.Eventually(t, "it is held back", func() bool { return p.waiting.Load() == 1 })
		limit(stream, -1)
		if err := j.Wait(); err != nil {
			t.Errorf("%s: %v", stream, err)
		}
		if got := natstest.Stored(t, b.JS, stream); len(got) != 1 || !strings.Contains(got[0], "large") {
			t.Errorf("%s has %q", stream, got)
		}
	}
}

// A dead letter that no server would accept in full is shortened, and never blocks the messages
// published with it.
func TestDeadLetterThatIsTooLarge_Shortened(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	p := NewPublisher(b, "test")
	large := &Message{Subject: pages, Stream: messages.StreamPages, Sequence: 7, Header: make(nats.Header), Data: bytes.Repeat([]byte("x"), 1<<20)}
	headers := &Message{Subject: pages, Stream: messages.StreamPages, Sequence: 8, Header: nats.Header{"X": {strings.Repeat("x", 65000)}, nats.MsgIdHdr: {strings.Repeat("y", 500)}}, Data: []byte("z")}
	err := p.Publish(t.Context(), DeadLetter("parser", large, errors.New("bad")), msg(records, "", "fine"), DeadLetter("parser", headers, errors.New("bad")))
	if err != nil {
		t.Fatal(err)
	}
	if got := natstest.Stored(t, b.JS, messages.StreamRecords); len(got) != 1 {
		t.Errorf("records %q", got)
	}
	sizes := map[string]string{"7": strconv.Itoa(1 << 20), "8": "1"} // by the sequence of the message
	begins := map[string]string{"7": strings.Repeat("x", briefPayload), "8": "z"}
	for seq := range uint64(2) {
		m, err := natstest.StreamOf(t, b.JS, messages.StreamDead).GetMsg(t.Context(), seq+1)
		if err != nil {
			t.Fatal(err)
		}
		of := m.Header.Get(messages.HeaderDeadSequence)
		if m.Header.Get(messages.HeaderDeadSize) != sizes[of] || string(m.Data) != begins[of] || m.Header.Get(messages.HeaderDeadReason) != "bad" || m.Header.Get("X") != "" {
			t.Errorf("letter of message %s: %d bytes, %v", of, len(m.Data), m.Header)
		}
		delete(sizes, of)
	}
	if len(sizes) > 0 {
		t.Errorf("no letters of %v", sizes)
	}
}

func TestPublishSequenced(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	p := NewPublisher(b, "test")
	first, err := p.PublishSequenced(t.Context(), []*nats.Msg{msg(records, "a", "a"), msg(urls, "a", "a"), msg(records, "b", "b")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first, []uint64{1, 1, 2}) {
		t.Errorf("sequences %v", first)
	}
	again, err := p.PublishSequenced(t.Context(), []*nats.Msg{msg(records, "c", "c"), msg(records, "b", "b"), msg(records, "a", "a")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again, []uint64{3, 2, 1}) {
		t.Errorf("sequences of repeats %v", again)
	}
	if none, err := p.PublishSequenced(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("nothing: %v, %v", none, err)
	}
}

func TestPublisherBrokerRestart(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	p := NewPublisher(b, "test")
	var n atomic.Int64
	restarted := make(chan struct{})
	j := await.Start(t, func(ctx context.Context) error {
		for more := 100; more > 0; {
			select {
			case <-restarted:
				more--
			default:
			}
			i := n.Load()
			if err := p.Publish(ctx, msg(records, fmt.Sprint("id", i), fmt.Sprint(i))); err != nil {
				return err
			}
			n.Add(1)
		}
		return nil
	})
	await.Eventually(t, "it is under way", func() bool { return n.Load() > 100 })
	br.Stop()
	br.Start()
	close(restarted)
	if err := j.Wait(); err != nil {
		t.Fatal(err)
	}
	got := natstest.Stored(t, b.JS, messages.StreamRecords)
	for i, text := range got {
		if text != fmt.Sprint(i) {
			t.Fatalf("message %d is %s", i, text)
		}
	}
	if len(got) != int(n.Load()) {
		t.Errorf("%d of %d are stored", len(got), n.Load())
	}
}

// A closed connection does not return: there is nothing to wait for.
func TestPublisherClosed(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	p := NewPublisher(b, "test")
	b.NC.Close()
	j := await.Start(t, func(ctx context.Context) error { return p.Publish(ctx, msg(records, "", "x")) })
	if err := j.Wait(); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("%v", err)
	}
}
