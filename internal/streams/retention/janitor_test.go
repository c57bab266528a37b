package retention

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/partition"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// janitorOf returns a janitor of only URLS, which requires n consumers and keeps almost no history.
func janitorOf(b *stages.Bus, n int) *Janitor {
	j := NewJanitor(b)
	j.Streams = map[string]int{messages.StreamURLs: n}
	j.KeepShare = 1e-9
	return j
}

func clean(t *testing.T, j *Janitor) {
	t.Helper()
	if _, err := j.clean(t.Context(), messages.StreamURLs, j.Streams[messages.StreamURLs]); err != nil {
		t.Fatal(err)
	}
}

func partitionConsumer(t *testing.T, b *stages.Bus, p int) jetstream.Consumer {
	t.Helper()
	c, err := b.JS.CreateOrUpdateConsumer(t.Context(), messages.StreamURLs, messages.PartitionConsumer(messages.ConsumerURLs, "urls", p))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// read takes n messages from a consumer and acknowledges them.
func read(t *testing.T, c jetstream.Consumer, n int) {
	t.Helper()
	batch, err := c.Fetch(n, jetstream.FetchMaxWait(await.Patience))
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for m := range batch.Messages() {
		if err := m.DoubleAck(t.Context()); err != nil {
			t.Fatal(err)
		}
		got++
	}
	if got != n {
		t.Fatalf("%d of %d messages came", got, n)
	}
}

func TestJanitorWaitsForConsumers(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	natstest.Send(t, b.JS, subjectURLs, 10)
	j := janitorOf(b, 2)
	clean(t, j)
	c := partitionConsumer(t, b, 0)
	read(t, c, 10)
	clean(t, j)
	if n := natstest.State(t, b.JS, messages.StreamURLs).Msgs; n != 10 {
		t.Errorf("%d of 10 are left, while a consumer is still to come", n)
	}
	partitionConsumer(t, b, 1) // has nothing to read
	clean(t, j)
	if n := natstest.State(t, b.JS, messages.StreamURLs).Msgs; n > 1 {
		t.Errorf("%d are left, that all have read", n)
	}
}

// The server drops the frontier's consumers when it restarts, and keeps those of others.
func TestJanitorWaitsForFrontiersBesideOthers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ stream, kind, other, frontier string }{
		{messages.StreamResults, "results", messages.ConsumerWriter + "-mine", messages.ConsumerResults},
		{messages.StreamResults, "results", "mine", messages.ConsumerResults},
		{messages.StreamURLs, "urls", "mine", messages.ConsumerURLs},
	} {
		_, b := stagestest.Open(t)
		natstest.Send(t, b.JS, "seine."+tt.kind+".c.0", 10)
		j := janitorOf(b, 0)
		for _, name := range []string{tt.other, tt.frontier} {
			c, err := b.JS.CreateConsumer(t.Context(), tt.stream, messages.PartitionConsumer(name, tt.kind, 0))
			if err != nil {
				t.Fatal(err)
			}
			if n := natstest.State(t, b.JS, tt.stream).Msgs; n != 10 {
				t.Errorf("%d of 10 are left before %s has read", n, name)
			}
			read(t, c, 10)
			if _, err := j.clean(t.Context(), tt.stream, 1); err != nil {
				t.Fatal(err)
			}
		}
		if n := natstest.State(t, b.JS, tt.stream).Msgs; n > 1 {
			t.Errorf("%d are left, that all have read", n)
		}
	}
}

func TestJanitorSlowConsumer(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	j := janitorOf(b, 3)
	quick, slow := partitionConsumer(t, b, 0), partitionConsumer(t, b, 1)
	partitionConsumer(t, b, 2) // idle
	natstest.Send(t, b.JS, subjectURLs, 5)
	natstest.Send(t, b.JS, "seine.urls.c.1", 5) // from 6 to 10
	natstest.Send(t, b.JS, subjectURLs, 5)
	read(t, quick, 10)
	clean(t, j)
	if st := natstest.State(t, b.JS, messages.StreamURLs); st.FirstSeq > 6 {
		t.Fatalf("starts at %d: messages nobody has read are gone", st.FirstSeq)
	}
	read(t, slow, 3)
	clean(t, j)
	if st := natstest.State(t, b.JS, messages.StreamURLs); st.FirstSeq != 9 {
		t.Errorf("starts at %d, read up to 8", st.FirstSeq)
	}
	// Delivered is not acknowledged.
	if _, err := slow.Next(); err != nil {
		t.Fatal(err)
	}
	clean(t, j)
	if st := natstest.State(t, b.JS, messages.StreamURLs); st.FirstSeq != 9 {
		t.Errorf("starts at %d, read up to 8", st.FirstSeq)
	}
	// An ephemeral consumer, such as that of an observer, does not count; a durable one does,
	// whoever created it.
	if _, err := b.JS.CreateConsumer(t.Context(), messages.StreamURLs, jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	read(t, slow, 1)
	stranger, err := b.JS.CreateConsumer(t.Context(), messages.StreamURLs, jetstream.ConsumerConfig{
		Durable: "mine", AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		t.Fatal(err)
	}
	read(t, stranger, 2)
	clean(t, j)
	if st := natstest.State(t, b.JS, messages.StreamURLs); st.FirstSeq != 11 {
		t.Errorf("starts at %d, read by the slowest up to 10", st.FirstSeq)
	}
}

func TestJanitorKeepShare(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	const size, share = 1000, 0.5
	c := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Config
	c.MaxBytes = 100 << 10
	if _, err := b.JS.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	j := janitorOf(b, 1)
	j.KeepShare = share
	con := partitionConsumer(t, b, 0)
	keep := uint64(share * float64(c.MaxBytes))
	sent := 0
	for natstest.State(t, b.JS, messages.StreamURLs).Bytes < keep-size {
		if _, err := b.JS.Publish(t.Context(), subjectURLs, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		sent++
	}
	read(t, con, sent)
	clean(t, j)
	if st := natstest.State(t, b.JS, messages.StreamURLs); st.FirstSeq != 1 {
		t.Errorf("purged up to %d inside the budget", st.FirstSeq)
	}
	for range 20 {
		if _, err := b.JS.Publish(t.Context(), subjectURLs, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	read(t, con, 20)
	clean(t, j)
	st := natstest.State(t, b.JS, messages.StreamURLs)
	if least := uint64(float64(keep) * (1 - purgedShare)); st.Bytes > keep || st.Bytes < least-3*size {
		t.Errorf("%d bytes are kept, the budget is %d, of which an eighth may be purged", st.Bytes, keep)
	}
}

func TestJanitorKeepAge(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	j := janitorOf(b, 1)
	j.KeepShare = 1
	c := partitionConsumer(t, b, 0)
	natstest.Send(t, b.JS, subjectURLs, 4)
	read(t, c, 4)
	clean(t, j)
	if n := natstest.State(t, b.JS, messages.StreamURLs).Msgs; n != 4 {
		t.Fatalf("%d of 4 are left", n)
	}
	j.KeepAge = 0
	for range 4 {
		clean(t, j)
	}
	if n := natstest.State(t, b.JS, messages.StreamURLs).Msgs; n != 0 {
		t.Errorf("%d are left of what is too old", n)
	}
}

// Whatever is published and acknowledged, in whatever order, messages that a consumer has not
// acknowledged exist.
func TestJanitorNeverTakesUnread(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	const partitions = 4
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	j := janitorOf(b, partitions)
	var cons [partitions]jetstream.Consumer
	var unread [partitions][]uint64 // unacknowledged sequences, oldest first
	var taken [partitions][]jetstream.Msg
	for p := range cons {
		cons[p] = partitionConsumer(t, b, p)
	}
	s := natstest.StreamOf(t, b.JS, messages.StreamURLs)
	purged := false
	for range 150 {
		p := rnd.IntN(partitions - 1) // the last is idle
		switch rnd.IntN(4) {
		case 0, 1:
			for range 1 + rnd.IntN(5) {
				ack, err := b.JS.Publish(t.Context(), messages.SubjectURLs(messages.SourceLink, "c", p), fmt.Append(nil, p))
				if err != nil {
					t.Fatal(err)
				}
				unread[p] = append(unread[p], ack.Sequence)
			}
		case 2:
			if n := len(unread[p]) - len(taken[p]); n > 0 {
				batch, err := cons[p].Fetch(1+rnd.IntN(n), jetstream.FetchMaxWait(await.Patience))
				if err != nil {
					t.Fatal(err)
				}
				for m := range batch.Messages() {
					taken[p] = append(taken[p], m)
				}
			}
		case 3:
			if n := len(taken[p]); n > 0 {
				k := rnd.IntN(n) // AckAll: also acknowledges all before it
				if err := taken[p][k].DoubleAck(t.Context()); err != nil {
					t.Fatal(err)
				}
				taken[p], unread[p] = taken[p][k+1:], unread[p][k+1:]
			}
		}
		clean(t, j)
		st := natstest.State(t, b.JS, messages.StreamURLs)
		purged = purged || st.FirstSeq > 1
		for p, us := range unread {
			if len(us) > 0 && us[0] < st.FirstSeq {
				t.Fatalf("partition %d has not read %d, the stream starts at %d", p, us[0], st.FirstSeq)
			}
		}
	}
	for _, us := range unread {
		for _, seq := range us {
			if _, err := s.GetMsg(t.Context(), seq); err != nil {
				t.Fatalf("message %d: %v", seq, err)
			}
		}
	}
	if !purged {
		t.Error("nothing was ever purged")
	}
}

// The complete mechanism: a full stream blocks its publisher until consumers read.
func TestJanitorMakesRoom(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	c := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Config
	c.MaxBytes = 20 << 10
	if _, err := b.JS.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	j := janitorOf(b, 1)
	j.KeepShare, j.Every = 0.5, 10*time.Millisecond
	con := partitionConsumer(t, b, 0)
	await.Start(t, j.Run)
	const n = 100
	p := stages.NewPublisher(b, "test")
	var want []string
	var msgs []*nats.Msg
	for i := range n {
		want = append(want, fmt.Sprintf("%01000d", i))
		msgs = append(msgs, &nats.Msg{Subject: subjectURLs, Data: []byte(want[i])})
	}
	pub := await.Start(t, func(ctx context.Context) error {
		_, err := p.PublishSequenced(ctx, msgs) // together they would exceed the stream
		return err
	})
	await.Eventually(t, "the stream is full", func() bool { return natstest.State(t, b.JS, messages.StreamURLs).Bytes > 18<<10 })
	var got []string
	for len(got) < n {
		m, err := con.Next(jetstream.FetchMaxWait(await.Patience))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(m.Data()))
		if err := m.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	if err := pub.Wait(); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Error("something was lost or came twice")
	}
}

// bodyStand has a stream of pages with large bodies, and a janitor that keeps almost none.
type bodyStand struct {
	*Janitor
	t      *testing.T
	bus    *stages.Bus
	store  jetstream.ObjectStore
	bodies *stages.LargeBodies
	parser jetstream.Consumer
}

func newBodyStand(t *testing.T) *bodyStand {
	_, b := stagestest.Open(t)
	s := &bodyStand{Janitor: NewJanitor(b), t: t, bus: b}
	s.BodiesBytes = 100
	var err error
	if s.store, err = b.JS.ObjectStore(t.Context(), messages.BucketBodies); err != nil {
		t.Fatal(err)
	}
	if s.bodies, err = b.LargeBodies(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.parser = s.consumer("parser")
	return s
}

func (s *bodyStand) consumer(durable string) jetstream.Consumer {
	s.t.Helper()
	c, err := s.bus.JS.CreateOrUpdateConsumer(s.t.Context(), messages.StreamPages, messages.PartitionConsumer(durable, "pages", 0))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *bodyStand) put(name string) {
	s.t.Helper()
	if err := s.bodies.Put(s.t.Context(), name, bytes.NewReader(make([]byte, 1000))); err != nil {
		s.t.Fatal(err)
	}
}

// page stores a body and then its page, and returns the page's sequence.
func (s *bodyStand) page(name string) (seq uint64) {
	s.t.Helper()
	s.put(name)
	m := nats.NewMsg(messages.SubjectPages("c", 0))
	ack, err := s.bus.JS.PublishMsg(s.t.Context(), m)
	if err != nil {
		s.t.Fatal(err)
	}
	return ack.Sequence
}

// parse marks the body of a page, as after parsing.
func (s *bodyStand) parse(name string, seq uint64) {
	s.t.Helper()
	if err := MarkBody(s.t.Context(), s.bus, name, seq); err != nil {
		s.t.Fatal(err)
	}
	read(s.t, s.parser, 1)
}

// wants sweeps, and checks which bodies are left.
func (s *bodyStand) wants(names ...string) {
	s.t.Helper()
	if err := s.sweepBodies(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	left, err := s.store.List(s.t.Context())
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		s.t.Fatal(err)
	}
	var got []string
	for _, o := range left {
		got = append(got, o.Name)
	}
	slices.Sort(got)
	if !slices.Equal(got, names) {
		s.t.Errorf("left %q, want %q", got, names)
	}
}

// messages returns the number of messages in BucketBodies.
func (s *bodyStand) messages() uint64 {
	s.t.Helper()
	status, err := s.bus.JS.Stream(s.t.Context(), "OBJ_"+messages.BucketBodies)
	if err != nil {
		s.t.Fatal(err)
	}
	return status.CachedInfo().State.Msgs
}

// A large body is removed when it has been read and the budget is used up, never before it has been
// read. Nothing is left of it.
func TestJanitorDeletesOnlyBodiesThatWereRead(t *testing.T) {
	t.Parallel()
	s := newBodyStand(t)
	first, second := s.page("first"), s.page("second")
	s.wants("first", "second")
	s.parse("first", first)
	s.wants("second")
	if err := MarkBody(t.Context(), s.bus, "second", second); err != nil {
		t.Fatal(err)
	}
	s.wants("second") // its page may be redelivered to the parser
	s.BodiesBytes = 1 << 20
	read(t, s.parser, 1)
	s.wants("second") // there is room for bodies that were read
	s.KeepAge = 0
	s.wants()
	if n := s.messages(); n > 0 {
		t.Errorf("%d messages are left of the bodies", n)
	}
}

// A body stays while its page is unread by any durable consumer of PAGES: an archive writer may be
// behind the parser.
func TestJanitorKeepsBodiesOfPagesThatAWriterLacks(t *testing.T) {
	t.Parallel()
	s := newBodyStand(t)
	archive := s.consumer("writer-archive")
	for _, name := range []string{"first", "second"} {
		s.parse(name, s.page(name))
	}
	s.wants("first", "second")
	read(t, archive, 1)
	s.wants("second")
	read(t, archive, 1)
	s.wants()
}

// Marks of a former stream of pages have no effect after it was re-created. But a leader that is
// cut off does not know the stream's end for a while.
func TestJanitorDeletesBodiesOfAFormerStream(t *testing.T) {
	t.Parallel()
	s := newBodyStand(t)
	s.put("former")
	if err := MarkBody(t.Context(), s.bus, "former", 1000); err != nil {
		t.Fatal(err)
	}
	s.page("next")
	read(t, s.parser, 1)
	s.wants("former", "next")
	s.looseAge = 0
	s.wants("former", "next")
	s.wants()
}

// A fetcher that dies after it has stored a body leaves one that no page names: its request is
// repeated, and stores another. It is removed some time after every earlier page has been read.
func TestJanitorDeletesBodiesWithoutAPage(t *testing.T) {
	t.Parallel()
	s := newBodyStand(t)
	s.put("left")
	s.page("again")
	s.looseAge = 0
	s.wants("again", "left") // its page may still come
	s.wants("again", "left") // or be unread
	read(t, s.parser, 1)     // it could not be parsed
	s.wants("again", "left")
	s.wants()
	s.looseAge = looseAge
	s.put("young")
	s.wants("young")
	s.wants("young")
}

// The age of an orphaned body counts from when it was stored, so frontiers that restart often
// remove it as well.
func TestJanitorOfANewProcessKnowsTheAgeOfABody(t *testing.T) {
	t.Parallel()
	s := newBodyStand(t)
	s.put("left")
	s.page("again")
	read(t, s.parser, 1)
	s.wants("again", "left") // they are too young
	s.loose = nil            // as in another process, which lives for a minute
	for _, after := range []time.Duration{time.Hour, time.Hour + time.Minute} {
		s.now = func() time.Time { return time.Now().Add(after) }
		s.wants("again", "left")
	}
	s.wants()
}

// A fetcher that dies while it stores a body leaves chunks without an object.
func TestJanitorRemovesUploadsThatBrokeOff(t *testing.T) {
	t.Parallel()
	s := newBodyStand(t)
	broken := "$O." + messages.BucketBodies + ".C.broken"
	natstest.Send(t, s.bus.JS, broken, 3)
	name := "whole"
	s.page(name)
	s.wants(name)
	s.wants(name)
	if n := s.messages(); n < 3 {
		t.Fatalf("%d messages are left while an upload may be on its way", n)
	}
	s.looseAge = 0
	s.BodiesBytes = 1 << 20
	s.parse(name, 1)
	natstest.Send(t, s.bus.JS, broken, 1) // it continues: the next check starts counting again
	s.wants(name)
	if n := s.messages(); n < 4 {
		t.Fatalf("%d messages are left while an upload is on its way", n)
	}
	s.wants(name)
	if n := s.messages(); n != 2 {
		t.Errorf("%d messages are left, want the whole object alone", n)
	}
}

// With snapshots, messages that a new owner would have to read stay, whoever has read them; an idle
// partition needs none.
func TestJanitorKeepsWhatSnapshotsLack(t *testing.T) {
	t.Parallel()
	_, b, s := snapshotsOf(t, 1<<20)
	j := janitorOf(b, 4)
	j.Snapshots, j.Every = s, 0
	for p := range 4 {
		partitionConsumer(t, b, p)
	}
	created := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Created
	saveAt := func(p int, created time.Time, seq uint64) {
		t.Helper()
		_, err := s.Save(t.Context(), p, partition.Snapshot{Epoch: 1, Positions: map[string]messages.Position{
			messages.StreamURLs: {Created: created, Sequence: seq},
		}}, natstest.Noise(1, 10))
		if err != nil {
			t.Fatal(err)
		}
	}
	starts := func(what string, want uint64) {
		t.Helper()
		for range 3 {
			clean(t, j)
		}
		if st := natstest.State(t, b.JS, messages.StreamURLs); st.FirstSeq != want {
			t.Errorf("%s: the stream starts at %d, want %d", what, st.FirstSeq, want)
		}
	}
	for i := range 20 { // 1 to 20, partitions 0 and 1 alternately; 2 and 3 are idle
		natstest.Send(t, b.JS, messages.SubjectURLs(messages.SourceLink, "c", i%2), 1)
	}
	for p := range 2 {
		read(t, partitionConsumer(t, b, p), 10)
	}
	starts("no snapshot", 1)
	for p := range 3 {
		saveAt(p, created, 0)
	}
	saveAt(0, created, 19)
	saveAt(1, created, 10)
	starts("an idle partition has none: its next owner will need to see that nothing is gone", 1)
	saveAt(3, created, 0)
	starts("partition 1 lacks 12", 12)
	saveAt(1, created.Add(-time.Hour), 20)
	starts("a snapshot of another stream says nothing", 12)
	saveAt(1, created, 99)
	starts("nor does one of a stream that lost its tail", 12)
	saveAt(1, created, 14)
	saveAt(2, created, 3) // long ago, and nothing since
	starts("idle partitions hold nothing back", 16)
	natstest.Send(t, b.JS, messages.SubjectURLs(messages.SourceLink, "c", 3), 1) // 21: its first
	read(t, partitionConsumer(t, b, 3), 1)
	saveAt(1, created, 20)
	starts("partition 3 lacks 21", 21)
	saveAt(3, created, 21)
	starts("all is saved", 22)
	j.Streams = map[string]int{messages.StreamSeeds: 0}
	natstest.Send(t, b.JS, "seine.seeds.c", 5)
	if _, err := j.clean(t.Context(), messages.StreamSeeds, 0); err != nil {
		t.Fatal(err)
	}
	if n := natstest.State(t, b.JS, messages.StreamSeeds).Msgs; n != 0 {
		t.Errorf("%d seeds are left: no snapshot has to do with them", n)
	}
}

// A snapshot makes room in a stream that is full of unsaved messages.
func TestJanitorSnapshotMakesRoom(t *testing.T) {
	t.Parallel()
	_, b, s := snapshotsOf(t, 1<<20)
	c := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Config
	c.MaxBytes = 20 << 10
	if _, err := b.JS.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	j := janitorOf(b, 1)
	j.KeepShare, j.Every, j.Snapshots = 0.5, 10*time.Millisecond, s
	for p := range b.Layout.Partitions { // the others are idle
		if _, err := s.Save(t.Context(), p, partition.Snapshot{Epoch: 1}, natstest.Noise(1, 10)); err != nil {
			t.Fatal(err)
		}
	}
	con := partitionConsumer(t, b, 0)
	await.Start(t, j.Run)
	pub := stages.NewPublisher(b, "test")
	sent := await.Start(t, func(ctx context.Context) error {
		for range 60 {
			if err := pub.Publish(ctx, &nats.Msg{Subject: subjectURLs, Data: make([]byte, 1000)}); err != nil {
				return err
			}
		}
		return nil
	})
	saved, reached := map[string]messages.Position{}, map[string]messages.Position{}
	early := 0
	for n := 0; n < 60; {
		batch, err := con.Fetch(60, jetstream.FetchMaxWait(50*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		for m := range batch.Messages() {
			md, err := m.Metadata()
			if err != nil {
				t.Fatal(err)
			}
			reached[messages.StreamURLs] = messages.Position{Created: c0(t, b), Sequence: md.Sequence.Stream, Stored: md.Timestamp}
			if err := m.DoubleAck(t.Context()); err != nil {
				t.Fatal(err)
			}
			n++
		}
		full, err := s.Pressure(t.Context(), saved, reached)
		if err != nil {
			t.Fatal(err)
		}
		if full < partition.SnapshotPressure {
			continue
		}
		early++
		if _, err := s.Save(t.Context(), 0, partition.Snapshot{Epoch: 1, Positions: reached}, natstest.Noise(1, 10)); err != nil {
			t.Fatal(err)
		}
		saved = maps.Clone(reached)
	}
	if err := sent.Wait(); err != nil {
		t.Fatal(err)
	}
	if early < 2 {
		t.Errorf("%d snapshots made room for three times the stream's limit", early)
	}
}

// c0 returns the creation time of URLS.
func c0(t *testing.T, b *stages.Bus) time.Time {
	t.Helper()
	return natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Created
}

// Whatever is published, read and saved, in whatever order, messages that a new owner would read
// after the newest snapshot exist.
func TestJanitorNeverTakesUnsaved(t *testing.T) {
	t.Parallel()
	_, b, s := snapshotsOf(t, 4<<20)
	const partitions = 4
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	j := janitorOf(b, partitions)
	j.Snapshots, j.Every = s, 0
	created := c0(t, b)
	var cons [partitions]jetstream.Consumer
	var unsaved [partitions][]uint64 // stored after the newest snapshot
	var applied [partitions]uint64
	var unread [partitions]int
	for p := range cons {
		cons[p] = partitionConsumer(t, b, p)
		if _, err := s.Save(t.Context(), p, partition.Snapshot{Epoch: 1}, natstest.Noise(1, 10)); err != nil {
			t.Fatal(err)
		}
	}
	purged := uint64(0)
	for range 200 {
		p := rnd.IntN(partitions - 1) // the last is idle
		switch rnd.IntN(3) {
		case 0:
			ack, err := b.JS.Publish(t.Context(), messages.SubjectURLs(messages.SourceLink, "c", p), fmt.Append(nil, p))
			if err != nil {
				t.Fatal(err)
			}
			unsaved[p] = append(unsaved[p], ack.Sequence)
			unread[p]++
		case 1:
			if unread[p] > 0 {
				read(t, cons[p], unread[p])
				unread[p], applied[p] = 0, unsaved[p][len(unsaved[p])-1]
			}
		case 2:
			if rnd.IntN(3) > 0 {
				continue
			}
			if _, err := s.Save(t.Context(), p, partition.Snapshot{Epoch: 1, Positions: map[string]messages.Position{
				messages.StreamURLs: {Created: created, Sequence: applied[p]},
			}}, natstest.Noise(1, 10)); err != nil {
				t.Fatal(err)
			}
			unsaved[p] = slices.DeleteFunc(unsaved[p], func(seq uint64) bool { return seq <= applied[p] })
		}
		clean(t, j)
		purged = natstest.State(t, b.JS, messages.StreamURLs).FirstSeq
		for p, us := range unsaved {
			if len(us) > 0 && us[0] < purged {
				t.Fatalf("no snapshot of partition %d has %d, the stream starts at %d", p, us[0], purged)
			}
		}
	}
	if purged <= 1 {
		t.Error("nothing was ever purged")
	}
}

// The consumer that fills a stream is logged by name, once: it may be one that nobody reads.
func TestJanitorTellsWhoFillsAStream(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	j := &Janitor{Log: slog.New(slog.NewTextHandler(&log, nil))}
	info := &jetstream.StreamInfo{Config: jetstream.StreamConfig{Name: "PAGES", MaxBytes: 1000}}
	info.State = jetstream.StreamState{FirstSeq: 11, LastSeq: 20, Msgs: 10, Bytes: 900}
	for _, at := range []struct {
		read uint64
		says int
	}{{15, 0}, {5, 1}, {11, 1}, {20, 1}, {10, 2}} {
		j.blame(info, at.read, "writer-old-0")
		if n := strings.Count(log.String(), "consumer=writer-old-0"); n != at.says {
			t.Errorf("read to %d: told %d times, want %d: %s", at.read, n, at.says, log.String())
		}
	}
}

// snapshotsOf starts a broker with the streams of Seine and a bucket of snapshots with a size limit
// in bytes.
func snapshotsOf(t *testing.T, limit int64) (*natstest.Broker, *stages.Bus, *partition.Snapshots) {
	t.Helper()
	br, b := stagestest.Open(t)
	stagestest.ProvisionSnapshots(t, b, limit)
	return br, b, partition.NewSnapshots(b)
}
