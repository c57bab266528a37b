package jsclient

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
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
)

// ObjectBucket writes the objects of a bucket in the format of every NATS client's object store
// (ADR-20), so that its Get and `nats object` can read them. The client's own Put is unsuitable. It
// resends a chunk that finds no leader of the stream after later chunks, and with the current
// contents of its buffer, and reports success (nats.go v1.55.0, found by the soak). It also sends
// without a limit on the unacknowledged data.
type ObjectBucket struct {
	client *Client
	bucket string
	Stream jetstream.Stream // the stream of the bucket
}

// ObjectChunk is the size of each chunk but the last in bytes: that of every client, below any
// max_payload in use.
const ObjectChunk = 128 << 10

const (
	objectWindow = 32               // unacknowledged chunks
	objectStall  = 30 * time.Second // a read or a write ends after this time without progress
)

// ObjectBox opens an existing bucket.
func (c *Client) ObjectBox(ctx context.Context, bucket string) (*ObjectBucket, error) {
	ctx, cancel := AnswerWithin(ctx)
	defer cancel()
	st, err := c.JS.Stream(ctx, "OBJ_"+bucket)
	if err != nil {
		return nil, fmt.Errorf("open object store %s: %w", bucket, err)
	}
	return &ObjectBucket{client: c, bucket: bucket, Stream: st}, nil
}

// Subjects returns the prefix of the subjects of an object store. The chunks of an object are on a
// subject with its NUID, which is one token; its info is on one with its encoded name.
func (o *ObjectBucket) Subjects() string { return "$O." + o.bucket + "." }

// ChunkSubjects returns the prefix of the subjects of chunks.
func (o *ObjectBucket) ChunkSubjects() string { return o.Subjects() + "C." }

// InfoSubjects returns the prefix of the subjects of object infos.
func (o *ObjectBucket) InfoSubjects() string { return o.Subjects() + "M." }

func (o *ObjectBucket) chunkSubject(nuid string) string { return o.ChunkSubjects() + nuid }
func (o *ObjectBucket) infoSubject(name string) string  { return objectInfoSubject(o.bucket, name) }

func objectInfoSubject(bucket, name string) string {
	return "$O." + bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

// ObjectInfo returns the info of an object from the leader of a bucket's stream. The error is
// jetstream.ErrObjectNotFound if the object was removed, ErrObjectDamaged if the info cannot be
// decoded.
func (c *Client) ObjectInfo(ctx context.Context, bucket, name string) (*jetstream.ObjectInfo, error) {
	m, err := c.ReadFromLeader(ctx, "OBJ_"+bucket, Lookup{Last: objectInfoSubject(bucket, name)})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, jetstream.ErrObjectNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("inspect object %s: %w", name, err)
	}
	info := new(jetstream.ObjectInfo)
	if err := jsontext.Unmarshal(m.Data, info); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrObjectDamaged, name, err)
	}
	if info.Deleted {
		return nil, jetstream.ErrObjectNotFound
	}
	return info, nil
}

// Put stores the output of write as an object, and returns its size. After an error, a part of it
// may be stored.
func (o *ObjectBucket) Put(ctx context.Context, name, nuid string, write func(io.Writer) error) (int64, error) {
	chunk := int(min(ObjectChunk, o.client.NC.MaxPayload()))
	u := &upload{
		ctx: ctx, js: o.client.JS, subject: o.chunkSubject(nuid), sum: sha256.New(), buf: make([]byte, 0, chunk),
	}
	defer u.waitInFlight()
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
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: uint32(chunk)}},
		Bucket:     o.bucket, NUID: nuid, Size: uint64(u.size), Chunks: u.chunks,
		ModTime: time.Now().UTC(), Digest: jetstream.GetObjectDigestValue(u.sum),
	})
	if err != nil {
		return 0, fmt.Errorf("encode object: %w", err)
	}
	m := nats.NewMsg(o.infoSubject(name))
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	m.Data = info
	actx, cancel := AnswerWithin(ctx)
	defer cancel()
	if _, err := o.client.JS.PublishMsg(actx, m); err != nil {
		return 0, fmt.Errorf("upload: %w", err)
	}
	return u.size, nil
}

// upload splits its input into chunks and publishes them, a limited number at a time. The first
// error is final: a chunk that was published again would be out of order. The sequences in the
// acknowledgements prove the order.
type upload struct {
	ctx     context.Context // of one put
	js      jetstream.JetStream
	subject string
	sum     hash.Hash
	size    int64
	chunks  uint32
	buf     []byte
	flying  []flight
	last    uint64 // sequence of the last stored chunk
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
		k := min(len(b), cap(u.buf)-len(u.buf))
		u.buf = append(u.buf, b[:k]...)
		b, n = b[k:], n+k
		if len(u.buf) == cap(u.buf) {
			u.send()
		}
	}
	return n, u.err
}

// send publishes the chunk in buf when the window has room for it.
func (u *upload) send() {
	if len(u.flying) == objectWindow {
		u.awaitAck()
	}
	if u.err != nil {
		return
	}
	u.sum.Write(u.buf)
	ack, err := u.js.PublishAsync(u.subject, u.buf, jetstream.WithRetryAttempts(0), jetstream.WithStallWait(objectStall))
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
		u.buf = make([]byte, 0, cap(u.buf))
	}
}

// awaitAck waits until the oldest unacknowledged chunk is stored.
func (u *upload) awaitAck() {
	f := u.flying[0]
	select {
	case ack := <-f.ack.Ok():
		if ack.Sequence <= u.last {
			u.err = cmp.Or(u.err, errChunkOrder)
		}
		u.last = ack.Sequence
		u.idle = append(u.idle, f.buf)
	case err := <-f.ack.Err():
		u.err = cmp.Or(u.err, fmt.Errorf("upload: %w", err))
	case <-u.ctx.Done():
		u.err = cmp.Or(u.err, context.Cause(u.ctx))
		return
	}
	u.flying = u.flying[1:]
}

var errChunkOrder = errors.New("upload: chunks were stored in another order")

// flush publishes the last chunk and waits until all are stored.
func (u *upload) flush() error {
	if len(u.buf) > 0 && u.err == nil {
		u.send()
	}
	for len(u.flying) > 0 && u.err == nil {
		u.awaitAck()
	}
	return u.err
}

// waitInFlight waits up to 2 s for unacknowledged chunks after a failure, so that none is stored
// after the others were removed.
func (u *upload) waitInFlight() {
	late, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), 2*time.Second)
	defer cancel()
	for u.ctx = late; len(u.flying) > 0 && late.Err() == nil; {
		u.awaitAck()
	}
}

// Discard removes an object or the remains of one. Whatever it cannot remove, a later sweep will.
func (o *ObjectBucket) Discard(ctx context.Context, name, nuid string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := o.Remove(ctx, name, nuid); err != nil {
		o.client.Log.Warn("cannot remove an object that is not needed, a later sweep will", "bucket", o.bucket, "object", name, "error", err)
	}
}

// Remove removes an object, complete or not.
func (o *ObjectBucket) Remove(ctx context.Context, name, nuid string) error {
	ctx, cancel := AnswerWithin(ctx)
	defer cancel()
	for _, subject := range []string{o.infoSubject(name), o.chunkSubject(nuid)} {
		if err := o.Stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return fmt.Errorf("remove object %s: %w", name, err)
		}
	}
	return nil
}
