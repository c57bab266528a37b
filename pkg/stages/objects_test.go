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

	"seine/internal/streams/jsclient"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

// steps returns one piece per read, and calls the functions between them.
type steps struct {
	data  [][]byte
	after map[int]func() // by the number of pieces read
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

// For a moment nobody accepts chunks, as when a cluster elects a leader: one chunk finds no
// responders, and those after it are stored. Sending it again would put it behind them. So the body
// is not stored, and nothing is left of it.
func TestBodyIsStoredAsItCameOrNotAtAll(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	ctx := t.Context()
	bodies, err := b.LargeBodies(ctx)
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
			all = append(all, natstest.NoiseBytes(uint64(i), jsclient.ObjectChunk))
		}
		return all
	}
	err = bodies.Put(ctx, "torn", &steps{data: chunks(), after: map[int]func(){
		2: func() { takes(false) }, 3: func() { takes(true) },
	}})
	if !errors.Is(err, jetstream.ErrNoStreamResponse) {
		t.Errorf("put a body of which a chunk was refused: %v", err)
	}
	if n := natstest.State(t, b.JS, name).Msgs; n > 0 {
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

// emptyReplica is a stream as seen on a replica that was cut off before anything was stored.
type emptyReplica struct{ jetstream.Stream }

func (emptyReplica) GetMsg(context.Context, uint64, ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	return nil, jetstream.ErrMsgNotFound
}

// putBody stores a body of three chunks, and opens its object bucket.
func putBody(ctx context.Context, t *testing.T, b *Bus, name string) (*jsclient.ObjectBucket, []byte) {
	t.Helper()
	bodies, err := b.LargeBodies(ctx)
	if err != nil {
		t.Fatal(err)
	}
	data := natstest.NoiseBytes(1, 2*jsclient.ObjectChunk+5)
	if err := bodies.Put(ctx, name, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return bodies.box, data
}

// Only the leader can say that a chunk does not exist: if a replica were believed, a page with its
// body in the object store would be lost.
func TestObjectIsReadOfTheLeaderWhereAReplicaLacksIt(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	box, data := putBody(t.Context(), t, b, "here")
	box.Stream = emptyReplica{box.Stream}
	r, err := box.Open(t.Context(), "here")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

func TestObjectThatIsGoneOrDamagedIsTold(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	ctx := t.Context()
	box, _ := putBody(ctx, t, b, "removed")
	reader := func(name string) *jsclient.Download {
		t.Helper()
		putBody(ctx, t, b, name)
		r, err := box.Open(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, jsclient.ObjectChunk+1)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	removed := reader("removed")
	if err := box.Remove(ctx, "removed", removed.NUID()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, removed); !errors.Is(err, jetstream.ErrObjectNotFound) {
		t.Errorf("it was removed while it was read: %v", err)
	}
	short := reader("short")
	if err := box.Stream.Purge(ctx, jetstream.WithPurgeSubject(box.ChunkSubjects()+short.NUID())); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, short); !errors.Is(err, jsclient.ErrObjectDamaged) {
		t.Errorf("its end is missing: %v", err)
	}
	for _, name := range []string{"removed", "never"} {
		if _, err := box.Open(ctx, name); !errors.Is(err, jetstream.ErrObjectNotFound) {
			t.Errorf("open %s: %v", name, err)
		}
		if _, err := NewPageBody(b, &messages.Page{BodyObject: name}, nil).Stored(ctx); !IsPoison(err) {
			t.Errorf("a page whose body is gone: %v", err)
		}
	}
}

// silentReplica is a stream whose replicas do not answer.
type silentReplica struct {
	jetstream.Stream
	asked chan struct{}
}

func (s silentReplica) GetMsg(ctx context.Context, _ uint64, _ ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	close(s.asked)
	<-ctx.Done()
	return nil, ctx.Err()
}

// A stage that is stopped must not wait for a server that does not answer.
func TestReadingAnObjectEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	box, _ := putBody(t.Context(), t, b, "here")
	silent := silentReplica{box.Stream, make(chan struct{})}
	box.Stream = silent
	ctx, cancel := context.WithCancel(t.Context())
	r, err := box.Open(ctx, "here")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-silent.asked
		cancel()
	}()
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, context.Canceled) {
		t.Errorf("read %v", err)
	}
}

// away is JetStream while the server of a stream does not answer.
type away struct {
	jetstream.JetStream
	times int
}

func (a *away) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	if a.times--; a.times >= 0 {
		return nil, nats.ErrNoResponders
	}
	return a.JetStream.Stream(ctx, name)
}

// A page has few attempts; an unavailable server does not count as one.
func TestBodyIsWaitedForWhileItsServerIsAway(t *testing.T) {
	t.Parallel()
	_, b := open(t)
	bodies, err := b.LargeBodies(t.Context())
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
