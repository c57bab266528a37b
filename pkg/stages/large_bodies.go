package stages

import (
	"context"
	"crypto/rand"
	"errors"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// LargeBodies stores large bodies in BucketBodies. It is safe for concurrent use.
type LargeBodies struct{ box *jsclient.ObjectBucket }

// LargeBodies opens the object store of large bodies, as Bucket opens a bucket.
func (b *Bus) LargeBodies(ctx context.Context) (*LargeBodies, error) {
	s := new(LargeBodies)
	err := jsclient.RetryUnavailable(ctx, func(ctx context.Context) (err error) {
		s.box, err = b.ObjectBox(ctx, messages.BucketBodies)
		return err
	})
	return s, err
}

// HasBody asks the leader of BucketBodies whether a large body with this name exists.
func (b *Bus) HasBody(ctx context.Context, name string) (bool, error) {
	_, err := b.ObjectInfo(ctx, messages.BucketBodies, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Put stores the bytes of r as a body under a unique name. It returns nil only if all of the body
// is stored.
func (b *LargeBodies) Put(ctx context.Context, name string, r io.Reader) error {
	nuid := rand.Text()
	_, err := b.box.Put(ctx, name, nuid, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
	if err != nil {
		b.box.Discard(ctx, name, nuid)
	}
	return err
}
