package partition

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// objects opens the object store of snapshots. An object's NUID is its name, so that the remains of
// a failed upload can be assigned to it.
func (s *Snapshots) objects(ctx context.Context) (*jsclient.ObjectBucket, error) {
	return s.bus.ObjectBox(ctx, messages.BucketSnapshots)
}

// putObject stores a complete object, or nothing.
func putObject(ctx context.Context, box *jsclient.ObjectBucket, name string, write func(io.Writer) error) (int64, error) {
	n, err := box.Put(ctx, name, name, write)
	if err != nil {
		box.Discard(ctx, name, name)
	}
	if stages.IsFull(err) {
		err = fmt.Errorf("%w: %s must hold a snapshot of every partition and one more: raise its limit (%w)", ErrSnapshotsFull, messages.BucketSnapshots, err)
	}
	return n, err
}

// unrecorded lists the objects of partition p, complete or not, except the recorded one and those
// of newer owners, who may be writing one.
func unrecorded(ctx context.Context, o *jsclient.ObjectBucket, p int, epoch uint64, recorded string) ([]string, error) {
	actx, cancel := jsclient.AnswerWithin(ctx)
	defer cancel()
	info, err := o.Stream.Info(actx, jetstream.WithSubjectFilter(o.Subjects()+">"))
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	var names []string
	for subject := range info.State.Subjects {
		name, chunk := strings.CutPrefix(subject, o.ChunkSubjects())
		if !chunk {
			b, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(subject, o.InfoSubjects()))
			if err != nil {
				continue
			}
			name = string(b)
		}
		var of int
		var made uint64
		if n, err := fmt.Sscanf(name, "p%d-e%d-", &of, &made); n != 2 || err != nil || of != p || made > epoch || name == recorded {
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// snapshotReader reads the object of a snapshot.
type snapshotReader struct{ io.ReadCloser }

func (r snapshotReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read snapshot: %w", snapshotError(err))
	}
	return n, err // may be io.EOF
}

// snapshotError converts an error of an object to one of its snapshot.
func snapshotError(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrObjectNotFound):
		return ErrSnapshotGone
	case errors.Is(err, jsclient.ErrObjectDamaged):
		return fmt.Errorf("%w: %w", ErrSnapshotDamaged, err)
	}
	return err
}
