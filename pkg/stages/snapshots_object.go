package stages

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// objectBox writes and reads the objects of BucketSnapshots, in the format of
// every NATS client's object store (ADR-20), so that `nats object` can look at
// them. The client's own Put and Get do not suit large objects: Put sends
// without a bound on what the server has not stored yet and gives a failed
// upload's chunks a name that nobody can connect to it; Get ends after 5 s
// unless told, and hangs when a chunk is missing.
type objectBox struct {
	bus    *Bus
	stream jetstream.Stream
	stall  time.Duration // without progress a read ends
	behind time.Duration // that a replica may be
}

const (
	objectChunk  = 128 << 10 // as of every client: below any max_payload in use
	objectWindow = 32        // chunks on their way
	objectStall  = 30 * time.Second
)

func (s *Snapshots) objects(ctx context.Context) (*objectBox, error) {
	ctx, cancel := answerWithin(ctx)
	defer cancel()
	st, err := s.bus.JS.Stream(ctx, "OBJ_"+messages.BucketSnapshots)
	if err != nil {
		return nil, fmt.Errorf("open object store %s: %w", messages.BucketSnapshots, err)
	}
	return &objectBox{bus: s.bus, stream: st, stall: objectStall, behind: replicaBehind}, nil
}

const (
	objectSubjects = "$O." + messages.BucketSnapshots + "."
	chunkSubjects  = objectSubjects + "C."
	infoSubjects   = objectSubjects + "M."
)

func chunkSubject(name string) string { return chunkSubjects + name }

func infoSubject(name string) string { return objectInfoSubject(infoSubjects, name) }

// objectInfoSubject is where an object store says what it knows of an object.
func objectInfoSubject(infoSubjects, name string) string {
	return infoSubjects + base64.URLEncoding.EncodeToString([]byte(name))
}

// put stores what write writes as an object, and returns its size. After an
// error some of it may be stored.
func (o *objectBox) put(ctx context.Context, name string, write func(io.Writer) error) (int64, error) {
	u := &upload{
		ctx: ctx, js: o.bus.JS, subject: chunkSubject(name), sum: sha256.New(), buf: make([]byte, 0, objectChunk),
	}
	defer u.settle()
	if err := write(u); err != nil {
		if u.err != nil && !errors.Is(err, u.err) {
			err = errors.Join(u.err, err)
		}
		return 0, err
	}
	if err := u.flush(); err != nil {
		return 0, err
	}
	info, err := json.Marshal(jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: objectChunk}},
		Bucket:     messages.BucketSnapshots, NUID: name, Size: uint64(u.size), Chunks: u.chunks,
		ModTime: time.Now().UTC(), Digest: jetstream.GetObjectDigestValue(u.sum),
	})
	if err != nil {
		return 0, fmt.Errorf("encode object: %w", err)
	}
	m := nats.NewMsg(infoSubject(name))
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	m.Data = info
	actx, cancel := answerWithin(ctx)
	defer cancel()
	if _, err := o.bus.JS.PublishMsg(actx, m); err != nil {
		return 0, fmt.Errorf("upload: %w", err)
	}
	return u.size, nil
}

// upload cuts what is written into chunks and publishes them, a bounded number
// at a time. The first error is final: a chunk that was published again would
// be out of order.
type upload struct {
	ctx     context.Context // of one put
	js      jetstream.JetStream
	subject string
	sum     hash.Hash
	size    int64
	chunks  uint32
	buf     []byte
	flying  []flight
	idle    [][]byte
	err     error
}

type flight struct {
	ack jetstream.PubAckFuture
	buf []byte
}

// Write implements io.Writer.
func (u *upload) Write(b []byte) (n int, err error) {
	for len(b) > 0 && u.err == nil {
		k := min(len(b), objectChunk-len(u.buf))
		u.buf = append(u.buf, b[:k]...)
		b, n = b[k:], n+k
		if len(u.buf) == objectChunk {
			u.send()
		}
	}
	return n, u.err
}

// send publishes the chunk in buf, when there is room for it in the window.
func (u *upload) send() {
	if len(u.flying) == objectWindow {
		u.land()
	}
	if u.err != nil {
		return
	}
	u.sum.Write(u.buf)
	ack, err := u.js.PublishAsync(u.subject, u.buf)
	if err != nil {
		u.err = fmt.Errorf("upload: %w", err)
		return
	}
	u.flying = append(u.flying, flight{ack, u.buf})
	u.size += int64(len(u.buf))
	u.chunks++
	if n := len(u.idle); n > 0 {
		u.buf, u.idle = u.idle[n-1][:0], u.idle[:n-1]
	} else {
		u.buf = make([]byte, 0, objectChunk)
	}
}

// land waits until the oldest chunk on its way is stored.
func (u *upload) land() {
	f := u.flying[0]
	select {
	case <-f.ack.Ok():
		u.idle = append(u.idle, f.buf)
	case err := <-f.ack.Err():
		u.err = cmp.Or(u.err, fmt.Errorf("upload: %w", err))
	case <-u.ctx.Done():
		u.err = cmp.Or(u.err, context.Cause(u.ctx))
		return
	}
	u.flying = u.flying[1:]
}

// flush publishes the last chunk and waits until all are stored.
func (u *upload) flush() error {
	if len(u.buf) > 0 && u.err == nil {
		u.send()
	}
	for len(u.flying) > 0 && u.err == nil {
		u.land()
	}
	return u.err
}

// settle waits a moment for what is on its way after a failure, so that nothing
// is stored after the rest was removed.
func (u *upload) settle() {
	late, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), 2*time.Second)
	defer cancel()
	for u.ctx = late; len(u.flying) > 0 && late.Err() == nil; {
		u.land()
	}
}

// discard removes an object, or what there is of it. What it cannot remove, a
// later sweep will.
func (o *objectBox) discard(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := o.remove(ctx, name); err != nil {
		o.bus.Log.Warn("cannot remove a snapshot that is not needed, the next one will", "object", name, "error", err)
	}
}

func (o *objectBox) remove(ctx context.Context, name string) error {
	ctx, cancel := answerWithin(ctx)
	defer cancel()
	for _, subject := range []string{infoSubject(name), chunkSubject(name)} {
		if err := o.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return fmt.Errorf("remove object %s: %w", name, err)
		}
	}
	return nil
}

// sweep removes the objects of partition p that are not keep, and are not of a
// newer owner, who may be writing one.
func (o *objectBox) sweep(ctx context.Context, p int, epoch uint64, keep string) error {
	actx, cancel := answerWithin(ctx)
	defer cancel()
	info, err := o.stream.Info(actx, jetstream.WithSubjectFilter(objectSubjects+">"))
	if err != nil {
		return fmt.Errorf("list objects: %w", err)
	}
	var names []string
	for subject := range info.State.Subjects {
		name, chunk := strings.CutPrefix(subject, chunkSubjects)
		if !chunk {
			b, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(subject, infoSubjects))
			if err != nil {
				continue
			}
			name = string(b)
		}
		var of int
		var made uint64
		if n, err := fmt.Sscanf(name, "p%d-e%d-", &of, &made); n != 2 || err != nil || of != p || made > epoch || name == keep {
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := o.remove(ctx, name); err != nil {
			return err
		}
		o.bus.Log.Info("removed what a failed snapshot left", "partition", p, "object", name)
	}
	return nil
}

// info returns what is known of an object: ErrSnapshotGone if it was removed.
func (o *objectBox) info(ctx context.Context, name string) (*jetstream.ObjectInfo, error) {
	ctx, cancel := answerWithin(ctx)
	defer cancel()
	m, err := o.stream.GetLastMsgForSubject(ctx, infoSubject(name))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, ErrSnapshotGone
	}
	if err != nil {
		return nil, fmt.Errorf("look at object %s: %w", name, err)
	}
	info := new(jetstream.ObjectInfo)
	if err := json.Unmarshal(m.Data, info); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrSnapshotDamaged, name, err)
	}
	if info.Deleted {
		return nil, ErrSnapshotGone
	}
	return info, nil
}

func (o *objectBox) open(ctx context.Context, name string) (*download, error) {
	info, err := o.info(ctx, name)
	if err != nil {
		return nil, err
	}
	want, err := jetstream.DecodeObjectDigest(info.Digest)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrSnapshotDamaged, name, err)
	}
	return &download{ctx: ctx, box: o, name: name, left: int64(info.Size), want: want, sum: sha256.New(), next: 1}, nil
}

// download reads an object, chunk by chunk.
type download struct {
	ctx  context.Context // of the one who reads
	box  *objectBox
	name string
	left int64  // bytes that are still to come from the server
	next uint64 // sequence in the stream from which to look for the next chunk
	part []byte // that came and was not read
	want []byte
	sum  hash.Hash
	err  error
}

// Read implements io.Reader.
func (d *download) Read(b []byte) (int, error) {
	for len(d.part) == 0 && d.err == nil {
		d.part, d.err = d.chunk()
	}
	n := copy(b, d.part)
	d.part = d.part[n:]
	if n == 0 && len(b) > 0 {
		return 0, d.err
	}
	return n, nil
}

// Close implements io.Closer.
func (d *download) Close() error {
	d.part, d.err = nil, errClosed
	return nil
}

var errClosed = errors.New("the snapshot was closed")

// chunk returns the next chunk, or io.EOF if all came and is right.
func (d *download) chunk() ([]byte, error) {
	if d.left == 0 {
		if got := d.sum.Sum(nil); !slices.Equal(got, d.want) {
			return nil, fmt.Errorf("read snapshot: %w: %s has another digest", ErrSnapshotDamaged, d.name)
		}
		return nil, io.EOF
	}
	began := time.Now()
	for wait := minRefusedWait; ; wait = min(2*wait, maxRefusedWait) {
		ctx, cancel := context.WithTimeout(d.ctx, 5*time.Second)
		m, err := d.box.stream.GetMsg(ctx, d.next, jetstream.WithGetMsgSubject(chunkSubject(d.name)))
		cancel()
		switch missing := errors.Is(err, jetstream.ErrMsgNotFound); {
		case err == nil && int64(len(m.Data)) > d.left:
			return nil, fmt.Errorf("read snapshot: %w: %s is longer than it was", ErrSnapshotDamaged, d.name)
		case err == nil:
			d.next, d.left = m.Sequence+1, d.left-int64(len(m.Data))
			d.sum.Write(m.Data)
			return m.Data, nil
		case missing && time.Since(began) > d.box.behind:
			if _, err := d.box.info(d.ctx, d.name); errors.Is(err, ErrSnapshotGone) {
				return nil, fmt.Errorf("read snapshot: %w", err)
			}
			return nil, fmt.Errorf("read snapshot: %w: %s ends %d bytes early", ErrSnapshotDamaged, d.name, d.left)
		case time.Since(began) > d.box.stall:
			return nil, fmt.Errorf("read snapshot: %w", err)
		}
		if err := Sleep(d.ctx, wait); err != nil {
			return nil, fmt.Errorf("read snapshot: %w", err)
		}
	}
}
