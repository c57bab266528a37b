package stages

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// errObjectDamaged is returned when an object is not what was stored.
var errObjectDamaged = errors.New("the object is damaged")

// open returns a reader of an object. It gives io.EOF only after all of it was read
// and its digest was right. An object that was removed is
// jetstream.ErrObjectNotFound, at the beginning or later; one that is not whole
// errObjectDamaged. The client's own Get does not suit: it makes a consumer for each
// object, its Read does not end with its context and waits for a chunk that is
// missing for as long as that says (nats.go v1.55.0, found by the soak), and it
// believes a replica that is cut off and lacks the object.
func (o *objectBucket) open(ctx context.Context, name string) (*download, error) {
	info, err := o.bus.objectInfo(ctx, o.bucket, name)
	if err != nil {
		return nil, err
	}
	want, err := jetstream.DecodeObjectDigest(info.Digest)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errObjectDamaged, name, err)
	}
	return &download{
		ctx: ctx, box: o, name: name, nuid: info.NUID, left: int64(info.Size), want: want, sum: sha256.New(), next: 1,
	}, nil
}

// download reads an object, chunk by chunk. It outlives a server that is away for a
// while.
type download struct {
	ctx        context.Context // of the one who reads
	box        *objectBucket
	name, nuid string
	left       int64  // bytes that are still to come from the server
	next       uint64 // sequence in the stream from which to look for the next chunk
	part       []byte // that came and was not read
	want       []byte
	sum        hash.Hash
	err        error
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

var errClosed = errors.New("the object was closed")

// chunk returns the next chunk, or io.EOF if all came and is right.
func (d *download) chunk() ([]byte, error) {
	if d.left == 0 {
		if got := d.sum.Sum(nil); !slices.Equal(got, d.want) {
			return nil, fmt.Errorf("%w: %s has another digest", errObjectDamaged, d.name)
		}
		return nil, io.EOF
	}
	began := time.Now()
	for wait := minRefusedWait; ; wait = min(2*wait, maxRefusedWait) {
		ctx, cancel := answerWithin(d.ctx)
		seq, data, err := d.get(ctx)
		cancel()
		switch {
		case err == nil && int64(len(data)) > d.left:
			return nil, fmt.Errorf("%w: %s is longer than it was", errObjectDamaged, d.name)
		case err == nil:
			d.next, d.left = seq+1, d.left-int64(len(data))
			d.sum.Write(data)
			return data, nil
		case errors.Is(err, jetstream.ErrMsgNotFound):
			if _, err := d.box.bus.objectInfo(d.ctx, d.box.bucket, d.name); err != nil {
				return nil, fmt.Errorf("read object %s: %w", d.name, err)
			}
			return nil, fmt.Errorf("%w: %s ends %d bytes early", errObjectDamaged, d.name, d.left)
		case time.Since(began) > objectStall:
			return nil, fmt.Errorf("read object %s: %w", d.name, err)
		}
		if err := Sleep(d.ctx, wait); err != nil {
			return nil, fmt.Errorf("read object %s: %w", d.name, err)
		}
	}
}

// get returns the first chunk from d.next on: of any replica, or of the leader
// where that does not have it, as it may be cut off from the others.
func (d *download) get(ctx context.Context) (seq uint64, data []byte, err error) {
	subject := d.box.chunkSubject(d.nuid)
	m, err := d.box.stream.GetMsg(ctx, d.next, jetstream.WithGetMsgSubject(subject))
	if err == nil {
		return m.Sequence, m.Data, nil
	}
	if !errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil, fmt.Errorf("get chunk: %w", err)
	}
	stored, err := d.box.bus.ReadFromLeader(ctx, "OBJ_"+d.box.bucket, Lookup{Seq: d.next, Next: subject})
	if err != nil {
		return 0, nil, err
	}
	return stored.Seq, stored.Data, nil
}
