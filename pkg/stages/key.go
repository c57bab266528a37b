package stages

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// KeyStore is what Swap needs of a KV bucket.
type KeyStore interface {
	Create(ctx context.Context, key string, value []byte, opts ...jetstream.KVCreateOpt) (uint64, error)
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
}

// Swap stores a value under a key in place of the one that was read, and returns
// its revision: the compare-and-set of all that Seine keeps in buckets. Revision
// is that of the value that was read, 0 if Get has found none, be it that the key
// was never written, or deleted, purged or expired; what marks a deletion has a
// revision of its own, so that an Update from 0 would be refused for ever. IsConflict
// tells that somebody else has written the key meanwhile.
func Swap(ctx context.Context, kv KeyStore, key string, value []byte, revision uint64) (uint64, error) {
	if revision == 0 {
		return kv.Create(ctx, key, value) //nolint:wrapcheck // by whoever stores
	}
	return kv.Update(ctx, key, value, revision) //nolint:wrapcheck // by whoever stores
}

// Codes of the JetStream API for a message that does not follow the one that it was
// to follow.
const (
	codeNotLast         = 10071
	codeNotLastReplicas = 10164
)

// IsConflict reports whether a key was changed by somebody else meanwhile.
func IsConflict(err error) bool {
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return true
	}
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (int(api.ErrorCode) == codeNotLast || int(api.ErrorCode) == codeNotLastReplicas)
}
