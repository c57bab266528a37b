package jsclient

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

	"seine/internal/base/sleep"
)

// ErrObjectDamaged is returned when an object differs from what was stored.
var ErrObjectDamaged = errors.New("the object is damaged")

// Open returns a reader of an object. It returns io.EOF only after the complete object was read and
// its digest matched. The error is jetstream.ErrObjectNotFound, at the beginning or later, for an
// object that was removed, and ErrObjectDamaged for one that is incomplete. The client's own Get is
// unsuitable: it creates a consumer for each object, and trusts a replica that is cut off and lacks
// the object. Its Read does not end with its context, and waits for a missing chunk as long as the
// context allows (nats.go v1.55.0, found by the soak).
func (o *ObjectBucket) Open(ctx context.Context, name string) (*Download, error) {
	info, err := o.client.ObjectInfo(ctx, o.bucket, name)
	if err != nil {
		return nil, err
	}
	want, err := jetstream.DecodeObjectDigest(info.Digest)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrObjectDamaged, name, err)
	}
	return &Download{
		ctx: ctx, box: o, name: name, nuid: info.NUID, left: int64(info.Size), want: want, sum: sha256.New(), next: 1,
	}, nil
}

// Download reads an object, chunk by chunk. It survives a temporary absence of the server.
type Download struct {
	ctx        context.Context // of the reader
	box        *ObjectBucket
	name, nuid string
	left       int64  // bytes still to be received from the server
	next       uint64 // sequence in the stream from which to search for the next chunk
	part       []byte // received but not read yet
	want       []byte
	sum        hash.Hash
	err        error
}

// NUID returns the token in the subject of the chunks of the object.
func (d *Download) NUID() string { return d.nuid }

// Left returns the number of bytes still to be received from the server.
func (d *Download) Left() int64 { return d.left }

// Read implements io.Reader.
func (d *Download) Read(b []byte) (int, error) {
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
func (d *Download) Close() error {
	d.part, d.err = nil, errClosed
	return nil
}

var errClosed = errors.New("the object was closed")

// chunk returns the next chunk, or io.EOF if all were received and the digest matches.
func (d *Download) chunk() ([]byte, error) {
	if d.left == 0 {
		if got := d.sum.Sum(nil); !slices.Equal(got, d.want) {
			return nil, fmt.Errorf("%w: %s has another digest", ErrObjectDamaged, d.name)
		}
		return nil, io.EOF
	}
	began := time.Now()
	for wait := MinRefusedWait; ; wait = min(2*wait, MaxRefusedWait) {
		ctx, cancel := AnswerWithin(d.ctx)
		seq, data, err := d.get(ctx)
		cancel()
		switch {
		case err == nil && int64(len(data)) > d.left:
			return nil, fmt.Errorf("%w: %s is longer than it was", ErrObjectDamaged, d.name)
		case err == nil:
			d.next, d.left = seq+1, d.left-int64(len(data))
			d.sum.Write(data)
			return data, nil
		case errors.Is(err, jetstream.ErrMsgNotFound):
			if _, err := d.box.client.ObjectInfo(d.ctx, d.box.bucket, d.name); err != nil {
				return nil, fmt.Errorf("read object %s: %w", d.name, err)
			}
			return nil, fmt.Errorf("%w: %s ends %d bytes early", ErrObjectDamaged, d.name, d.left)
		case time.Since(began) > objectStall:
			return nil, fmt.Errorf("read object %s: %w", d.name, err)
		}
		if err := sleep.For(d.ctx, wait); err != nil {
			return nil, fmt.Errorf("read object %s: %w", d.name, err)
		}
	}
}

// get returns the first chunk from d.next on: from any replica, or from the leader if the replica
// does not have it, as it may be cut off from the others.
func (d *Download) get(ctx context.Context) (seq uint64, data []byte, err error) {
	subject := d.box.chunkSubject(d.nuid)
	m, err := d.box.Stream.GetMsg(ctx, d.next, jetstream.WithGetMsgSubject(subject))
	if err == nil {
		return m.Sequence, m.Data, nil
	}
	if !errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil, fmt.Errorf("get chunk: %w", err)
	}
	stored, err := d.box.client.ReadFromLeader(ctx, "OBJ_"+d.box.bucket, Lookup{Seq: d.next, Next: subject})
	if err != nil {
		return 0, nil, err
	}
	return stored.Seq, stored.Data, nil
}
