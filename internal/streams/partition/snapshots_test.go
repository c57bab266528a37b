package partition

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// openSnapshots starts a broker with the streams of Seine and a bucket of snapshots with a size
// limit in bytes.
func openSnapshots(t *testing.T, limit int64) (*natstest.Broker, *stages.Bus, *Snapshots) {
	t.Helper()
	br, b := stagestest.Open(t)
	stagestest.ProvisionSnapshots(t, b, limit)
	return br, b, NewSnapshots(b)
}

func save(t *testing.T, s *Snapshots, p int, epoch uint64, write func(io.Writer) error) Snapshot {
	t.Helper()
	snap, err := s.Save(t.Context(), p, Snapshot{Owner: "store", Epoch: epoch, Format: 1}, write)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func load(t *testing.T, s *Snapshots, snap Snapshot) ([]byte, error) {
	t.Helper()
	r, err := s.Open(t.Context(), snap)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// objects returns the names of the objects in the bucket, complete or not.
func objects(t *testing.T, s *Snapshots) []string {
	t.Helper()
	box, err := s.objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info, err := box.Stream.Info(t.Context(), jetstream.WithSubjectFilter(box.ChunkSubjects()+">"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for subject := range info.State.Subjects {
		names = append(names, strings.TrimPrefix(subject, box.ChunkSubjects()))
	}
	return slices.Sorted(slices.Values(names))
}

func TestSnapshotRoundTrip(t *testing.T) {
	t.Parallel()
	_, b, s := openSnapshots(t, 64<<20)
	if _, ok, err := s.Newest(t.Context(), 2); ok || err != nil {
		t.Fatalf("newest of none: %v, %v", ok, err)
	}
	at := map[string]messages.Position{messages.StreamURLs: {Created: time.Now().UTC(), Sequence: 7, Stored: time.Now().UTC()}}
	for i, size := range []int{0, 1, jsclient.ObjectChunk - 1, jsclient.ObjectChunk, 3*jsclient.ObjectChunk + 5, 3 << 20} {
		saved, err := s.Save(t.Context(), 2, Snapshot{Owner: "store", Epoch: uint64(i), Format: 3, Positions: at}, natstest.Noise(9, size))
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Newest(t.Context(), 2)
		if !ok || err != nil || got.Object != saved.Object || got.Bytes != int64(size) || got.Epoch != uint64(i) ||
			got.Format != 3 || got.Owner != "store" || got.Partition != 2 || !maps.Equal(got.Positions, at) || time.Since(got.Time) > await.Patience {
			t.Fatalf("newest is %+v, %v, %v; saved %+v", got, ok, err, saved)
		}
		data, err := load(t, s, got)
		if err != nil || !bytes.Equal(data, natstest.NoiseBytes(9, size)) {
			t.Fatalf("%d bytes: read %d, %v", size, len(data), err)
		}
		if have := objects(t, s); size > 0 && !slices.Equal(have, []string{saved.Object}) {
			t.Errorf("the bucket holds %q", have)
		}
		// Other clients can read it too.
		store, err := b.JS.ObjectStore(t.Context(), messages.BucketSnapshots)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := store.GetBytes(t.Context(), saved.Object); err != nil || !bytes.Equal(data, natstest.NoiseBytes(9, size)) {
			t.Errorf("%d bytes: the client's Get read %d, %v", size, len(data), err)
		}
	}
	r, err := s.Open(t.Context(), func() Snapshot { n, _, _ := s.Newest(t.Context(), 2); return n }())
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(r, natstest.NoiseBytes(9, 3<<20)); err != nil {
		t.Error(err)
	}
}

func TestSnapshotOfStaleOwner(t *testing.T) {
	t.Parallel()
	_, _, s := openSnapshots(t, 64<<20)
	first := save(t, s, 1, 5, natstest.Noise(1, 1000))
	var newer Snapshot
	// The old owner is frozen while it uploads; the new one saves meanwhile.
	_, err := s.Save(t.Context(), 1, Snapshot{Owner: "old", Epoch: 5}, func(w io.Writer) error {
		if err := natstest.Noise(2, jsclient.ObjectChunk*2)(w); err != nil {
			return err
		}
		newer = save(t, s, 1, 6, natstest.Noise(3, 1000))
		return natstest.Noise(2, jsclient.ObjectChunk*2)(w)
	})
	if !errors.Is(err, ErrStale) {
		t.Fatalf("saved over a newer owner's: %v", err)
	}
	if have := objects(t, s); !slices.Equal(have, []string{newer.Object}) {
		t.Errorf("the bucket holds %q, want only %q", have, newer.Object)
	}
	if _, err := s.Save(t.Context(), 1, Snapshot{Epoch: 5}, func(io.Writer) error { t.Error("asked to write in vain"); return nil }); !errors.Is(err, ErrStale) {
		t.Errorf("later: %v", err)
	}
	if data, err := load(t, s, newer); err != nil || !bytes.Equal(data, natstest.NoiseBytes(3, 1000)) {
		t.Errorf("the newer one: %d bytes, %v", len(data), err)
	}
	if _, err := load(t, s, first); !errors.Is(err, ErrSnapshotGone) {
		t.Errorf("the one that was replaced: %v", err)
	}
}

// A new owner is uploading when the old one resumes and sweeps.
func TestSnapshotOfNewerOwnerIsNotSwept(t *testing.T) {
	t.Parallel()
	_, _, s := openSnapshots(t, 64<<20)
	save(t, s, 0, 1, natstest.Noise(1, 1000))
	newer := save(t, s, 0, 3, func(w io.Writer) error {
		if err := natstest.Noise(2, 4*jsclient.ObjectChunk)(w); err != nil {
			return err
		}
		// It is recorded before the newer one, which replaces it, not the other way round.
		save(t, s, 0, 2, natstest.Noise(4, 1000))
		return nil
	})
	if data, err := load(t, s, newer); err != nil || !bytes.Equal(data, natstest.NoiseBytes(2, 4*jsclient.ObjectChunk)) {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
	if have := objects(t, s); !slices.Equal(have, []string{newer.Object}) {
		t.Errorf("the bucket holds %q, want only %q", have, newer.Object)
	}
}

// A leader that is cut off returns the previous record for a while: the newest object is not a
// leftover.
func TestSnapshotIsNotSweptByAnOldRecord(t *testing.T) {
	t.Parallel()
	_, _, s := openSnapshots(t, 64<<20)
	save(t, s, 0, 1, natstest.Noise(1, 1000))
	old, err := s.recorded(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	newest := save(t, s, 0, 1, natstest.Noise(2, 1000))
	box, err := s.objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, have := range []recordedSnapshot{old, {}} {
		if _, err := s.sweep(t.Context(), box, Snapshot{Partition: 0, Epoch: 1}, have); have.Object != "" && !jsclient.IsConflict(err) {
			t.Errorf("swept by record %d: %v", have.revision, err)
		}
	}
	if data, err := load(t, s, newest); err != nil || !bytes.Equal(data, natstest.NoiseBytes(2, 1000)) {
		t.Errorf("the newest: %d bytes, %v", len(data), err)
	}
}

func TestSnapshotThatFails(t *testing.T) {
	t.Parallel()
	_, b, s := openSnapshots(t, 64<<20)
	kept := save(t, s, 0, 1, natstest.Noise(1, 1000))
	other := save(t, s, 1, 1, natstest.Noise(2, 1000))
	broken := errors.New("store is broken")
	_, err := s.Save(t.Context(), 0, Snapshot{Epoch: 1}, func(w io.Writer) error {
		_ = natstest.Noise(3, 5*jsclient.ObjectChunk)(w)
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("saved: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = s.Save(ctx, 0, Snapshot{Epoch: 1}, func(w io.Writer) error {
		cancel()
		return natstest.Noise(3, 50*jsclient.ObjectChunk)(w)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	want := slices.Sorted(slices.Values([]string{kept.Object, other.Object}))
	if have := objects(t, s); !slices.Equal(have, want) {
		t.Errorf("the bucket holds %q, want %q", have, want)
	}
	box, err := s.objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Leftovers of a crash, of this partition and of another.
	for _, name := range []string{objectName(0, 1), objectName(1, 1)} {
		if _, err := b.JS.Publish(t.Context(), box.ChunkSubjects()+name, []byte("half of it")); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	whole := objectName(0, 0) // was stored, but not recorded
	if _, err := box.Put(t.Context(), whole, whole, natstest.Noise(1, 100)); err != nil {
		t.Fatal(err)
	}
	next := save(t, s, 0, 2, natstest.Noise(5, 1000))
	want = slices.Sorted(slices.Values([]string{next.Object, other.Object, want[3]}))
	if have := objects(t, s); !slices.Equal(have, want) {
		t.Errorf("after the next the bucket holds %q, want %q", have, want)
	}
	if n := natstest.State(t, b.JS, "OBJ_"+messages.BucketSnapshots).Msgs; n != 5 { // chunk and info of two objects, and one chunk
		t.Errorf("%d messages are left", n)
	}
}

func TestSnapshotBucketFull(t *testing.T) {
	t.Parallel()
	_, b, s := openSnapshots(t, 2<<20)
	kept := save(t, s, 0, 1, natstest.Noise(1, 1<<20))
	_, err := s.Save(t.Context(), 0, Snapshot{Epoch: 1}, natstest.Noise(2, 20<<20))
	if !errors.Is(err, ErrSnapshotsFull) || !strings.Contains(err.Error(), "snapshot bucket is full: ") {
		t.Fatalf("saved in a full bucket: %v", err)
	}
	newest, ok, err := s.Newest(t.Context(), 0)
	if err != nil || !ok || newest.Object != kept.Object {
		t.Fatalf("newest is %+v, %v, %v", newest, ok, err)
	}
	if data, err := load(t, s, newest); err != nil || !bytes.Equal(data, natstest.NoiseBytes(1, 1<<20)) {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
	stagestest.ProvisionSnapshots(t, b, 64<<20)
	save(t, s, 0, 1, natstest.Noise(2, 20<<20))
}

// A truncated or changed object causes an error before anything could take it for complete.
func TestSnapshotDamaged(t *testing.T) {
	t.Parallel()
	_, b, s := openSnapshots(t, 64<<20)
	box, err := s.objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const size = 5*jsclient.ObjectChunk + 100
	for name, damage := range map[string]func(st jetstream.Stream, first uint64) error{
		"first chunk": func(st jetstream.Stream, first uint64) error { return st.DeleteMsg(t.Context(), first) },
		"middle":      func(st jetstream.Stream, first uint64) error { return st.DeleteMsg(t.Context(), first+2) },
		"last chunk":  func(st jetstream.Stream, first uint64) error { return st.DeleteMsg(t.Context(), first+5) },
		"longer": func(_ jetstream.Stream, first uint64) error {
			newest, _, _ := s.Newest(t.Context(), 0)
			if err := natstest.StreamOf(t, b.JS, "OBJ_"+messages.BucketSnapshots).DeleteMsg(t.Context(), first+5); err != nil {
				return err
			}
			_, err := b.JS.Publish(t.Context(), box.ChunkSubjects()+newest.Object, make([]byte, 101))
			return err
		},
		"changed": func(_ jetstream.Stream, first uint64) error {
			newest, _, _ := s.Newest(t.Context(), 0)
			if err := natstest.StreamOf(t, b.JS, "OBJ_"+messages.BucketSnapshots).DeleteMsg(t.Context(), first+5); err != nil {
				return err
			}
			_, err := b.JS.Publish(t.Context(), box.ChunkSubjects()+newest.Object, make([]byte, 100))
			return err
		},
	} {
		before := natstest.State(t, b.JS, "OBJ_"+messages.BucketSnapshots).LastSeq
		snap := save(t, s, 0, 1, natstest.Noise(7, size))
		box, err := s.objects(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := damage(box.Stream, before+1); err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context(), snap)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); !errors.Is(err, ErrSnapshotDamaged) {
			t.Errorf("%s: read %d of %d bytes, %v", name, n, size, err)
		}
	}
	snap := save(t, s, 0, 1, natstest.Noise(7, size))
	r, err := s.Open(t.Context(), snap)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, r, jsclient.ObjectChunk); err != nil {
		t.Fatal(err)
	}
	save(t, s, 0, 1, natstest.Noise(8, 10))
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, ErrSnapshotGone) {
		t.Errorf("read while it was replaced: %v", err)
	}
}

// A server that goes away and returns fails an upload, not a download.
func TestSnapshotOutlivesServer(t *testing.T) {
	t.Parallel()
	br, _, s := openSnapshots(t, 64<<20)
	const size = 40 * jsclient.ObjectChunk
	snap := save(t, s, 0, 1, natstest.Noise(1, size))
	r, err := s.Open(t.Context(), snap)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.CopyN(h, r, size/2); err != nil {
		t.Fatal(err)
	}
	br.Stop()
	br.Start()
	if _, err := io.Copy(h, r); err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum256(natstest.NoiseBytes(1, size)); !bytes.Equal(h.Sum(nil), want[:]) {
		t.Error("read something else")
	}
	_, err = s.Save(t.Context(), 0, Snapshot{Epoch: 1}, func(w io.Writer) error {
		if err := natstest.Noise(2, size)(w); err != nil {
			return err
		}
		br.Stop()
		br.Start()
		return natstest.Noise(2, size)(w)
	})
	t.Logf("an upload through a restart: %v", err)
	var again Snapshot
	await.Eventually(t, "the next is saved", func() bool {
		again, err = s.Save(t.Context(), 0, Snapshot{Epoch: 1}, natstest.Noise(3, size))
		return err == nil
	})
	if have := objects(t, s); !slices.Equal(have, []string{again.Object}) {
		t.Errorf("the bucket holds %q, want %q", have, again.Object)
	}
}

// A large object is never completely in memory.
func TestSnapshotBoundedMemory(t *testing.T) {
	_, _, s := openSnapshots(t, 1<<30)
	const size = 128 << 20
	block := natstest.NoiseBytes(1, 1<<20)
	var peak atomic.Uint64
	watch := await.Start(t, func(ctx context.Context) error {
		for sleep.For(ctx, 5*time.Millisecond) == nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
		}
		return nil
	})
	began := time.Now()
	snap := save(t, s, 0, 1, func(w io.Writer) error {
		for range size / len(block) {
			if _, err := w.Write(block); err != nil {
				return err
			}
		}
		return nil
	})
	up := time.Since(began)
	began = time.Now()
	r, err := s.Open(t.Context(), snap)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := io.Copy(io.Discard, r); n != size || err != nil {
		t.Fatalf("read %d bytes, %v", n, err)
	}
	down := time.Since(began)
	if err := watch.End(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB: up in %s, down in %s, heap at most %d MiB with the server in it", size>>20, up, down, peak.Load()>>20)
	if peak.Load() > 96<<20 {
		t.Errorf("the heap grew to %d MiB", peak.Load()>>20)
	}
}

func TestBinding(t *testing.T) {
	t.Parallel()
	_, b, s := openSnapshots(t, 1<<20)
	ctx := t.Context()
	none, err := s.Binding(ctx, 3)
	if err != nil || none != (Binding{}) {
		t.Fatalf("binding of none: %+v, %v", none, err)
	}
	first, err := s.Rebind(ctx, 3, none, "one", 4)
	if err != nil || first.Store != "one" || first.Epoch != 4 {
		t.Fatalf("bound: %+v, %v", first, err)
	}
	if got, err := s.Binding(ctx, 3); err != nil || got != first {
		t.Errorf("binding is %+v, %v, want %+v", got, err, first)
	}
	if again, err := s.Rebind(ctx, 3, none, "one", 4); err != nil || again != first {
		t.Errorf("bound again: %+v, %v", again, err)
	}
	if _, err := s.Rebind(ctx, 3, none, "two", 5); !errors.Is(err, ErrStale) {
		t.Errorf("bound over another: %v", err)
	}
	if _, err := s.Rebind(ctx, 3, first, "two", 3); !errors.Is(err, ErrStale) {
		t.Errorf("bound under an older epoch: %v", err)
	}
	if second, err := s.Rebind(ctx, 3, first, "two", 5); err != nil || second.Store != "two" {
		t.Errorf("bound: %+v, %v", second, err)
	}
	kv, err := b.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rebind(ctx, 0, Binding{}, "one", 9); err != nil {
		t.Fatal(err)
	}
	if err := kv.Delete(ctx, "frontier.0"); err != nil {
		t.Fatal(err)
	}
	gone, err := s.Binding(ctx, 0)
	if err != nil || gone.Store != "" {
		t.Fatalf("a deleted one is %+v, %v", gone, err)
	}
	if _, err := s.Rebind(ctx, 0, gone, "three", 10); err != nil {
		t.Error(err)
	}
}

func TestPressure(t *testing.T) {
	t.Parallel()
	_, b, s := openSnapshots(t, 1<<20)
	c := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Config
	c.MaxBytes = 100 << 10
	if _, err := b.JS.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		if _, err := b.JS.Publish(t.Context(), subjectURLs, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	info := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo()
	at := func(seq uint64) map[string]messages.Position {
		return map[string]messages.Position{messages.StreamURLs: {Created: info.Created, Sequence: seq}}
	}
	share := float64(info.State.Bytes) / float64(c.MaxBytes)
	for name, c := range map[string]struct {
		saved, reached map[string]messages.Position
		want           float64
	}{
		"no snapshot":        {nil, at(40), share},
		"half":               {at(20), at(40), share / 2},
		"just saved":         {at(39), at(40), share / 40},
		"idle":               {at(3), at(3), 0},
		"nothing ever read":  {nil, nil, 0},
		"of another stream":  {map[string]messages.Position{messages.StreamURLs: {Sequence: 39}}, at(40), share},
		"of one cut shorter": {at(60), at(40), share},
	} {
		got, err := s.Pressure(t.Context(), c.saved, c.reached)
		if err != nil || fmt.Sprintf("%.4f", got) != fmt.Sprintf("%.4f", c.want) {
			t.Errorf("%s: pressure %.4f, %v, want %.4f", name, got, err, c.want)
		}
	}
}

// An owner that has lost the partition without noticing is saving a snapshot.
func TestFencedSnapshotStays(t *testing.T) {
	t.Parallel()
	_, _, s := openSnapshots(t, 64<<20)
	if _, found, err := s.Fence(t.Context(), 4, 2); found || err != nil {
		t.Fatalf("fenced none: %v, %v", found, err)
	}
	if _, found, err := s.Newest(t.Context(), 4); found || err != nil {
		t.Fatalf("there is none: %v, %v", found, err)
	}
	if _, err := s.Save(t.Context(), 4, Snapshot{Epoch: 1}, natstest.Noise(1, 10)); !errors.Is(err, ErrStale) {
		t.Errorf("an earlier owner saved the first: %v", err)
	}
	first := save(t, s, 4, 2, natstest.Noise(1, 1000))
	_, err := s.Save(t.Context(), 4, Snapshot{Owner: "old", Epoch: 2}, func(w io.Writer) error {
		fenced, found, err := s.Fence(t.Context(), 4, 5)
		if !found || err != nil || fenced.Object != first.Object || fenced.Bytes != first.Bytes {
			t.Errorf("fenced %+v, %v, %v; want %+v", fenced, found, err, first)
		}
		return natstest.Noise(2, 1000)(w)
	})
	if !errors.Is(err, ErrStale) {
		t.Errorf("replaced what a later owner goes on from: %v", err)
	}
	if _, _, err := s.Fence(t.Context(), 4, 2); !errors.Is(err, ErrStale) {
		t.Errorf("fenced by an earlier owner: %v", err)
	}
	if again, found, err := s.Fence(t.Context(), 4, 5); !found || err != nil || again.Object != first.Object {
		t.Errorf("fenced again: %+v, %v, %v", again, found, err)
	}
	if data, err := load(t, s, first); err != nil || !bytes.Equal(data, natstest.NoiseBytes(1, 1000)) {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
	if have := objects(t, s); !slices.Equal(have, []string{first.Object}) {
		t.Errorf("the bucket holds %q, want only %q", have, first.Object)
	}
	next := save(t, s, 4, 5, natstest.Noise(3, 1000)) // the fence is for others
	if now, _, err := s.Newest(t.Context(), 4); err != nil || now.Object != next.Object {
		t.Errorf("newest is %+v, %v", now, err)
	}
}
