package jsclient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
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
// separate revision, so that an Update from 0 would always be refused. IsConflict
// reports that another process has written the key meanwhile.
func Swap(ctx context.Context, kv KeyStore, key string, value []byte, revision uint64) (uint64, error) {
	if revision == 0 {
		return kv.Create(ctx, key, value)
	}
	return kv.Update(ctx, key, value, revision)
}

// SwapKey is Swap of a key of a bucket.
func (c *Client) SwapKey(ctx context.Context, bucket, key string, value []byte, revision uint64) (uint64, error) {
	kv, err := c.JS.KeyValue(ctx, bucket)
	if err != nil {
		return 0, fmt.Errorf("open bucket %s: %w", bucket, err)
	}
	return Swap(ctx, kv, key, value, revision)
}

// Codes of the JetStream API for a message that does not follow the one that it was
// to follow.
const (
	codeNotLast         = 10071
	codeNotLastReplicas = 10164
)

// IsConflict reports whether another process changed a key meanwhile.
func IsConflict(err error) bool {
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return true
	}
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (int(api.ErrorCode) == codeNotLast || int(api.ErrorCode) == codeNotLastReplicas)
}

// RetryConflicts calls do again, after a moment, for as long as it returns a conflict: do
// reads a key and swaps it, and what it has read may be of a replica that is behind. The
// error is the last of do, or that of ctx beside it.
func RetryConflicts(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !IsConflict(err) {
			return err
		}
		if ended := sleep.For(ctx, MinRefusedWait); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// ReadKey returns what the leader of a bucket has under a key, and its revision: 0
// and no value if there is none, for whatever reason. It needs no right but to
// STREAM.MSG.GET, whose answer is JSON: a server sends answers where the asker says,
// and a value as it is stored, as DIRECT.GET answers, must not go just anywhere.
func (c *Client) ReadKey(ctx context.Context, bucket, key string) (value []byte, revision uint64, err error) {
	m, err := c.ReadEntry(ctx, bucket, key)
	if m == nil {
		return nil, 0, err
	}
	return m.Data, m.Seq, nil
}

// ReadJSON is ReadKey for a value in JSON, which it decodes into v; if there is none, v stays as it is.
func (c *Client) ReadJSON(ctx context.Context, bucket, key string, v any) (revision uint64, err error) {
	text, revision, err := c.ReadKey(ctx, bucket, key)
	if err != nil || revision == 0 {
		return 0, err
	}
	if err := jsontext.Unmarshal(text, v); err != nil {
		return 0, fmt.Errorf("decode key %s of bucket %s: %w", key, bucket, err)
	}
	return revision, nil
}

// ReadEntry is ReadKey for all that is stored, nil if there is no value.
func (c *Client) ReadEntry(ctx context.Context, bucket, key string) (*StoredMessage, error) {
	m, err := c.ReadFromLeader(ctx, "KV_"+bucket, Lookup{Last: "$KV." + bucket + "." + key})
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && m.Deletes() {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read key %s of bucket %s: %w", key, bucket, err)
	}
	return m, nil
}

// Deletes reports whether a message of a bucket marks that its key is gone.
func (m *StoredMessage) Deletes() bool {
	if len(m.Header) == 0 {
		return false
	}
	h, err := nats.DecodeHeadersMsg(m.Header)
	return err == nil && (h.Get(keyOperation) != "" || h.Get(jetstream.MarkerReasonHeader) != "")
}

// keyOperation is the header of what marks a deletion or a purge (ADR-8).
const keyOperation = "KV-Operation"

// Keys returns the keys that a bucket has, in no order. It makes no consumer, which
// not everybody may.
func (c *Client) Keys(ctx context.Context, bucket string) ([]string, error) {
	s, err := c.JS.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", bucket, err)
	}
	subjects := "$KV." + bucket + "."
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(subjects+">"))
	if err != nil {
		return nil, fmt.Errorf("list keys of bucket %s: %w", bucket, err)
	}
	var mu sync.Mutex
	var keys []string
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for subject := range info.State.Subjects {
		g.Go(func() error {
			key := strings.TrimPrefix(subject, subjects)
			_, rev, err := c.ReadKey(ctx, bucket, key)
			if err != nil || rev == 0 { // deleted
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, key)
			return nil
		})
	}
	return keys, g.Wait()
}
