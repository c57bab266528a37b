package partition

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func feedOf(b *stages.Bus, after messages.Position) *OrderedReader {
	return NewOrderedReader(b, messages.StreamURLs, messages.PartitionConsumer(messages.ConsumerURLs, "urls", 0), after)
}

// next takes n messages from a reader.
func next(t *testing.T, f *OrderedReader, n int) []*ReaderMessage {
	t.Helper()
	var got []*ReaderMessage
	deadline := time.After(await.Patience)
	for len(got) < n {
		select {
		case m, ok := <-f.C():
			if !ok {
				t.Fatalf("reader ended after %d of %d", len(got), n)
			}
			got = append(got, m)
		case <-deadline:
			t.Fatalf("%d of %d messages came: %v", len(got), n, texts(got))
		}
	}
	return got
}

func texts(ms []*ReaderMessage) (s []string) {
	for _, m := range ms {
		s = append(s, string(m.Data))
	}
	return s
}

func numbers(from, to int) (s []string) {
	for i := from; i < to; i++ {
		s = append(s, fmt.Sprint(i))
	}
	return s
}

func TestOrderedReader(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	natstest.Send(t, b.JS, subjectURLs, 3)
	natstest.Send(t, b.JS, "seine.urls.c.1", 2) // of another partition
	if _, err := b.JS.Publish(t.Context(), "seine.urls.other.0", []byte("3")); err != nil {
		t.Fatal(err)
	}
	f := feedOf(b, messages.Position{})
	j := await.Start(t, f.Run)
	got := next(t, f, 4)
	if !slices.Equal(texts(got), numbers(0, 4)) {
		t.Fatalf("came as %q", texts(got))
	}
	if m := got[3]; m.Sequence != 6 || m.Position.Sequence != 6 || m.Subject != "seine.urls.other.0" || m.Stream != messages.StreamURLs || m.Stored.IsZero() {
		t.Errorf("%+v", m)
	}
	got[2].Ack()
	await.Eventually(t, "the ack arrives, for all before as well", func() bool {
		return natstest.ConsumerInfo(t, b.JS, messages.StreamURLs, "frontier-urls-0").AckFloor.Stream == 3
	})
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	if _, ok := <-f.C(); ok {
		t.Error("C is not closed")
	}

	// The owner stored only the second message, whatever was acknowledged since.
	f = feedOf(b, got[1].Position)
	await.Start(t, f.Run)
	if again := next(t, f, 2); !slices.Equal(texts(again), numbers(2, 4)) {
		t.Errorf("after a restart %q", texts(again))
	}
	// A reader that waits at the end gets the next message.
	if _, err := b.JS.Publish(t.Context(), subjectURLs, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if m := next(t, f, 1); texts(m)[0] != "new" {
		t.Errorf("then %q", texts(m))
	}
}

func TestOrderedReaderAtTheEnd(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	natstest.Send(t, b.JS, subjectURLs, 3)
	f := feedOf(b, messages.Position{})
	j := await.Start(t, f.Run)
	last := next(t, f, 3)[2].Position
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	// All of it was purged meanwhile: the position is still valid.
	if err := natstest.StreamOf(t, b.JS, messages.StreamURLs).Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	f = feedOf(b, last)
	await.Start(t, f.Run)
	if _, err := b.JS.Publish(t.Context(), subjectURLs, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if m := next(t, f, 1)[0]; string(m.Data) != "new" || m.Sequence != 4 || !m.Position.Created.Equal(last.Created) {
		t.Errorf("%q at %+v", m.Data, m.Position)
	}
}

func TestOrderedReaderManyMessages(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	const n = 48 * feedAhead
	for i := range n {
		if _, err := b.JS.PublishAsync(subjectURLs, fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	<-b.JS.PublishAsyncComplete()
	f := feedOf(b, messages.Position{})
	await.Start(t, f.Run)
	if got := texts(next(t, f, n)); !slices.Equal(got, numbers(0, n)) {
		t.Error("out of order")
	}
}

func TestOrderedReaderBrokerRestart(t *testing.T) {
	t.Parallel()
	br, b := stagestest.Open(t)
	natstest.Send(t, b.JS, subjectURLs, 20)
	f := feedOf(b, messages.Position{})
	await.Start(t, f.Run)
	got := next(t, f, 7)
	br.Stop()
	br.Start()
	b2, _ := stagestest.Dial(t, br.URL())
	for i := 20; i < 30; i++ {
		if _, err := b2.JS.Publish(t.Context(), subjectURLs, fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	got = append(got, next(t, f, 23)...)
	if !slices.Equal(texts(got), numbers(0, 30)) {
		t.Errorf("came as %q", texts(got))
	}
	for _, m := range got {
		if !m.Position.Created.Equal(got[0].Position.Created) {
			t.Error("the stream is taken for another one")
		}
	}
}

// A new connection does not acknowledge messages that were handed out but not acknowledged: the
// janitor would purge messages that the owner may have to read again.
func TestOrderedReaderAcknowledgesOnlyWhatItsOwnerDoes(t *testing.T) {
	t.Parallel()
	br, b := stagestest.Open(t)
	f := feedOf(b, messages.Position{})
	await.Start(t, f.Run)
	natstest.Send(t, b.JS, subjectURLs, 10)
	got := next(t, f, 10)
	got[2].Ack()
	floor := func() uint64 {
		return natstest.ConsumerInfo(t, b.JS, messages.StreamURLs, "frontier-urls-0").AckFloor.Stream
	}
	await.Eventually(t, "the third is acknowledged", func() bool { return floor() == 3 })
	for session := range 3 {
		br.Stop()
		br.Start()
		var text string
		await.Eventually(t, "there is a message more", func() bool {
			text = fmt.Sprint("after ", session)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := b.JS.Publish(ctx, subjectURLs, []byte(text), jetstream.WithMsgID(text))
			return err == nil
		})
		if m := next(t, f, 1); texts(m)[0] != text {
			t.Fatalf("session %d: %q came, want %q", session, texts(m), text)
		}
		if n := floor(); n != 3+uint64(session) {
			t.Errorf("session %d: all up to %d is acknowledged, want %d", session, n, 3+session)
		}
		got[3+session].Ack() // of the first session
		await.Eventually(t, "another is acknowledged", func() bool { return floor() == 4+uint64(session) })
	}
}

// The last messages that the broker sent are lost, and no later one reveals that.
func TestOrderedReaderLostOnTheWay(t *testing.T) {
	t.Parallel()
	br, b := stagestest.Open(t)
	p := natstest.NewProxy(t, br)
	far, _ := stagestest.Dial(t, p.URL())
	f := feedOf(far, messages.Position{})
	await.Start(t, f.Run)
	natstest.Send(t, b.JS, subjectURLs, 3)
	got := next(t, f, 3)
	p.Swallow.Store(true)
	natstest.Send(t, b.JS, subjectURLs, 2)
	await.Eventually(t, "the broker has sent them", func() bool {
		return natstest.ConsumerInfo(t, b.JS, messages.StreamURLs, "frontier-urls-0").Delivered.Stream == 5
	})
	p.Cut()
	got = append(got, next(t, f, 2)...)
	if want := []string{"0", "1", "2", "0", "1"}; !slices.Equal(texts(got), want) {
		t.Errorf("came as %q", texts(got))
	}
}

func remake(t *testing.T, b *stages.Bus) {
	t.Helper()
	c := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Config
	if err := b.JS.DeleteStream(t.Context(), messages.StreamURLs); err != nil {
		t.Fatal(err)
	}
	if _, err := b.JS.CreateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func TestOrderedReaderStreamMadeAnew(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	natstest.Send(t, b.JS, subjectURLs, 3)
	f := feedOf(b, messages.Position{})
	await.Start(t, f.Run)
	old := next(t, f, 3)
	remake(t, b)
	natstest.Send(t, b.JS, subjectURLs, 5)
	got := next(t, f, 5)
	if !slices.Equal(texts(got), numbers(0, 5)) {
		t.Errorf("came as %q", texts(got))
	}
	created := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Created
	if at := got[0].Position; at.Sequence != 1 || !at.Created.Equal(created) || at.Created.Equal(old[0].Position.Created) {
		t.Errorf("position %+v", at)
	}
	old[2].Ack() // of the old life: says nothing about the new messages
	got[0].Ack()
	await.Eventually(t, "the new ack arrives", func() bool {
		return natstest.ConsumerInfo(t, b.JS, messages.StreamURLs, "frontier-urls-0").AckFloor.Stream >= 1
	})
	if floor := natstest.ConsumerInfo(t, b.JS, messages.StreamURLs, "frontier-urls-0").AckFloor.Stream; floor != 1 {
		t.Errorf("acknowledged up to %d", floor)
	}
}

// The positions do not match the current stream: all of it is read again.
func TestOrderedReaderPositionNotTrusted(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	natstest.Send(t, b.JS, subjectURLs, 5)
	f := feedOf(b, messages.Position{})
	j := await.Start(t, f.Run)
	good := next(t, f, 5)[2].Position
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]messages.Position{
		"another life":          {Created: good.Created.Add(time.Nanosecond), Sequence: good.Sequence, Stored: good.Stored},
		"behind the last":       {Created: good.Created, Sequence: 6, Stored: good.Stored},
		"another message there": {Created: good.Created, Sequence: good.Sequence, Stored: good.Stored.Add(-time.Second)},
		"no life":               {Sequence: good.Sequence, Stored: good.Stored},
	} {
		f := feedOf(b, at)
		j := await.Start(t, f.Run)
		if got := next(t, f, 5); !slices.Equal(texts(got), numbers(0, 5)) || !got[0].Position.Created.Equal(good.Created) {
			t.Errorf("%s: %q", name, texts(got))
		}
		if err := j.End(); err != nil {
			t.Error(err)
		}
	}
	f = feedOf(b, good)
	await.Start(t, f.Run)
	if got := next(t, f, 2); !slices.Equal(texts(got), numbers(3, 5)) {
		t.Errorf("the good position: %q", texts(got))
	}
}

// A stream that has lost messages that were read begins a new era, so that visits whose rounds were
// used in the lost period are recorded. A re-created stream, and a reader that only observes, do
// not.
func TestLossOfReadMessages_EraBegins(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	natstest.Send(t, b.JS, subjectURLs, 5)
	created := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Created
	consumer := messages.PartitionConsumer("frontier-urls", "urls", 0)
	onlooker := consumer
	onlooker.Durable = ""
	for _, c := range []struct {
		name   string
		config jetstream.ConsumerConfig
		at     messages.Position
		begins bool
	}{
		{"a stream that was created again", consumer, messages.Position{Created: created.Add(-time.Hour), Sequence: 7, Stored: created}, false},
		{"a reader that looks on", onlooker, messages.Position{Created: created, Sequence: 7, Stored: created}, false},
		{"a lost tail", consumer, messages.Position{Created: created, Sequence: 7, Stored: created}, true},
		{"a loss that another reader has noted", consumer, messages.Position{Created: created, Sequence: 6, Stored: created}, false},
	} {
		before, err := b.Eras.Last(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := NewOrderedReader(b, messages.StreamURLs, c.config, c.at)
		j := await.Start(t, f.Run)
		next(t, f, 5)
		if err := j.End(); err != nil {
			t.Error(err)
		}
		after, err := b.Eras.Last(t.Context())
		if err != nil || after > before != c.begins {
			t.Errorf("%s: era %d after %d (%v), want another: %v", c.name, after, before, err, c.begins)
		}
	}
}

// The consumer of the reader may be deleted by a person or lost with a server.
func TestOrderedReaderConsumerDeleted(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	natstest.Send(t, b.JS, subjectURLs, 2)
	f := feedOf(b, messages.Position{})
	await.Start(t, f.Run)
	got := next(t, f, 1)
	if err := b.JS.DeleteConsumer(t.Context(), messages.StreamURLs, "frontier-urls-0"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.JS.Publish(t.Context(), subjectURLs, []byte("2")); err != nil {
		t.Fatal(err)
	}
	if got = append(got, next(t, f, 2)...); !slices.Equal(texts(got), numbers(0, 3)) {
		t.Errorf("came as %q", texts(got))
	}
}
