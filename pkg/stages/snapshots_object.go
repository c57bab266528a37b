package stages

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// objects is the store of snapshots. An object's NUID is its name, so that what
// is left of a failed upload can be connected to it. The client's own Get does not
// suit: it ends after 5 s unless told, and hangs when a chunk is missing.
func (s *Snapshots) objects(ctx context.Context) (*objectBox, error) {
	return s.bus.objectBox(ctx, messages.BucketSnapshots)
}

// sweep removes the objects of partition p that are not keep, and are not of a
// newer owner, who may be writing one.
func (o *objectBox) sweep(ctx context.Context, p int, epoch uint64, keep string) error {
	actx, cancel := answerWithin(ctx)
	defer cancel()
	info, err := o.stream.Info(actx, jetstream.WithSubjectFilter(o.subjects()+">"))
	if err != nil {
		return fmt.Errorf("list objects: %w", err)
	}
	var names []string
	for subject := range info.State.Subjects {
		name, chunk := strings.CutPrefix(subject, o.chunkSubjects())
		if !chunk {
			b, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(subject, o.infoSubjects()))
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
		if err := o.remove(ctx, name, name); err != nil {
			return err
		}
		o.bus.Log.Info("removed what a failed snapshot left", "partition", p, "object", name)
	}
	return nil
}

// info returns what is known of a snapshot's object: ErrSnapshotGone if it was
// removed.
func (o *objectBox) info(ctx context.Context, name string) (*jetstream.ObjectInfo, error) {
	info, err := o.bus.objectInfo(ctx, o.bucket, name)
	switch {
	case errors.Is(err, jetstream.ErrObjectNotFound):
		return nil, ErrSnapshotGone
	case errors.Is(err, errInfoDamaged):
		return nil, fmt.Errorf("%w: %w", ErrSnapshotDamaged, err)
	}
	return info, err
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
		seq, data, err := d.get(ctx)
		cancel()
		switch {
		case err == nil && int64(len(data)) > d.left:
			return nil, fmt.Errorf("read snapshot: %w: %s is longer than it was", ErrSnapshotDamaged, d.name)
		case err == nil:
			d.next, d.left = seq+1, d.left-int64(len(data))
			d.sum.Write(data)
			return data, nil
		case errors.Is(err, jetstream.ErrMsgNotFound):
			if _, err := d.box.info(d.ctx, d.name); errors.Is(err, ErrSnapshotGone) {
				return nil, fmt.Errorf("read snapshot: %w", err)
			}
			return nil, fmt.Errorf("read snapshot: %w: %s ends %d bytes early", ErrSnapshotDamaged, d.name, d.left)
		case time.Since(began) > objectStall:
			return nil, fmt.Errorf("read snapshot: %w", err)
		}
		if err := Sleep(d.ctx, wait); err != nil {
			return nil, fmt.Errorf("read snapshot: %w", err)
		}
	}
}

// get returns the first chunk from d.next on: of any replica, or of the leader
// where that does not have it, as it may be cut off from the others.
func (d *download) get(ctx context.Context) (seq uint64, data []byte, err error) {
	subject := d.box.chunkSubject(d.name)
	m, err := d.box.stream.GetMsg(ctx, d.next, jetstream.WithGetMsgSubject(subject))
	if err == nil {
		return m.Sequence, m.Data, nil
	}
	if !errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil, fmt.Errorf("get chunk: %w", err)
	}
	stored, err := d.box.bus.AskLeader(ctx, "OBJ_"+d.box.bucket, Lookup{Seq: d.next, Next: subject})
	if err != nil {
		return 0, nil, err
	}
	return stored.Seq, stored.Data, nil
}
