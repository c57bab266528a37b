package stages

import (
	"bytes"
	"errors"
	"io"
	"testing"

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
