package stages

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// steps reads one piece after the other, and calls what stands between them.
type steps struct {
	data  [][]byte
	after map[int]func() // by how many are read
	n     int
}

func (s *steps) Read(p []byte) (int, error) {
	if do := s.after[s.n]; do != nil {
		delete(s.after, s.n)
		do()
	}
	if s.n == len(s.data) {
		return 0, io.EOF
	}
	n := copy(p, s.data[s.n])
	if s.data[s.n] = s.data[s.n][n:]; len(s.data[s.n]) == 0 {
		s.n++
	}
	return n, nil
}

// For a moment nobody takes chunks, as when a cluster elects a leader: one of
// them finds no responders, and those after it are stored. To send it again would
// put it behind them. The body is not stored then, and nothing is left of it.
func TestBodyIsStoredAsItCameOrNotAtAll(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	ctx := t.Context()
	bodies, err := b.Bodies(ctx)
	if err != nil {
		t.Fatal(err)
	}
	name := "OBJ_" + messages.BucketBodies
	takes := func(takes bool) {
		t.Helper()
		if err := b.NC.Flush(); err != nil { // what was published is on its way to its fate
			t.Fatal(err)
		}
		s, err := b.JS.Stream(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		c := s.CachedInfo().Config
		c.Subjects = []string{"$O." + messages.BucketBodies + ".M.>"}
		if takes {
			c.Subjects = append(c.Subjects, "$O."+messages.BucketBodies+".C.>")
		}
		if _, err := b.JS.UpdateStream(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	chunks := func() (all [][]byte) {
		for i := range 6 {
			all = append(all, noiseBytes(uint64(i), objectChunk))
		}
		return all
	}
	err = bodies.Put(ctx, "torn", &steps{data: chunks(), after: map[int]func(){
		2: func() { takes(false) }, 3: func() { takes(true) },
	}})
	if !errors.Is(err, jetstream.ErrNoStreamResponse) {
		t.Errorf("put a body of which a chunk was refused: %v", err)
	}
	if n := state(t, b, name).Msgs; n > 0 {
		t.Errorf("%d messages are left of it", n)
	}
	if err := bodies.Put(ctx, "whole", &steps{data: chunks()}); err != nil {
		t.Fatal(err)
	}
	store, err := b.JS.ObjectStore(ctx, messages.BucketBodies)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.GetBytes(ctx, "whole"); err != nil || !bytes.Equal(got, bytes.Join(chunks(), nil)) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

// cutOff is an object store as a replica has it that is cut off from the others:
// it does not know what they have stored since.
type cutOff struct {
	jetstream.ObjectStore
	asked int
	until int
}

func (c *cutOff) Get(ctx context.Context, name string, opts ...jetstream.GetObjectOpt) (jetstream.ObjectResult, error) {
	if c.asked++; c.asked < c.until {
		return nil, jetstream.ErrObjectNotFound
	}
	return c.ObjectStore.Get(ctx, name, opts...)
}

// The leader alone can say that a body is gone: a page that names one is lost if
// that is believed of a replica.
func TestBodyThatAReplicaLacksIsNotGone(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	ctx := t.Context()
	store, err := b.JS.ObjectStore(ctx, messages.BucketBodies)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.PutBytes(ctx, "here", []byte("body")); err != nil {
		t.Fatal(err)
	}
	replica := &cutOff{ObjectStore: store, until: 10}
	r, err := b.getObject(ctx, replica, messages.BucketBodies, "here")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || string(text) != "body" || replica.asked != 10 {
		t.Errorf("read %q, %v after %d requests", text, err, replica.asked)
	}
	if err := store.Delete(ctx, "here"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"here", "never"} {
		replica := &cutOff{ObjectStore: store, until: 10}
		if _, err := b.getObject(ctx, replica, messages.BucketBodies, name); !errors.Is(err, jetstream.ErrObjectNotFound) || replica.asked != 1 {
			t.Errorf("%s: %v after %d requests", name, err, replica.asked)
		}
	}
}

// emptyReplica is a stream as a replica has it that was cut off before anything was
// stored.
type emptyReplica struct{ jetstream.Stream }

func (emptyReplica) GetMsg(context.Context, uint64, ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	return nil, jetstream.ErrMsgNotFound
}

func TestSnapshotIsReadOfTheLeaderWhereAReplicaLacksIt(t *testing.T) {
	t.Parallel()
	_, _, s := openSnapshots(t, 64<<20)
	const size = 2*objectChunk + 5
	snap := save(t, s, 0, 1, noise(1, size))
	box, err := s.objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	box.stream = emptyReplica{box.stream}
	r, err := box.open(t.Context(), snap.Object)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, noiseBytes(1, size)) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

// away is JetStream while the server of an object store does not answer.
type away struct {
	jetstream.JetStream
	times int
}

func (a *away) ObjectStore(ctx context.Context, bucket string) (jetstream.ObjectStore, error) {
	if a.times--; a.times >= 0 {
		return nil, nats.ErrNoResponders
	}
	return a.JetStream.ObjectStore(ctx, bucket)
}

// The tries of a page are few; a server that is away is not one of them.
func TestBodyIsWaitedForWhileItsServerIsAway(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	bodies, err := b.Bodies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := bodies.Put(t.Context(), "here", strings.NewReader("body")); err != nil {
		t.Fatal(err)
	}
	js := &away{JetStream: b.JS, times: messages.MaxDeliver}
	b.JS = js
	body := NewPageBody(b, &messages.Page{BodyObject: "here"}, nil)
	r, err := body.Stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if text, err := io.ReadAll(r); err != nil || string(text) != "body" {
		t.Errorf("read %q, %v", text, err)
	}
	js.times = 1 << 20
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := body.Stored(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("waited until it was told to end: %v", err)
	}
}
