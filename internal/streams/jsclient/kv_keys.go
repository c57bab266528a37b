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

// KeyStore is the part of a KV bucket that Swap uses.
type KeyStore interface {
	Create(ctx context.Context, key string, value []byte, opts ...jetstream.KVCreateOpt) (uint64, error)
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
}

// Swap replaces the value of a key and returns the new revision: the compare-and-set for everything
// that Seine keeps in buckets. revision is that of the value that was read, or 0 if the key was
// never written, or was deleted, purged or expired. A deletion marker has its own revision, so an
// Update from 0 would always be refused. IsConflict reports whether another process has written the
// key meanwhile.
func Swap(ctx context.Context, kv KeyStore, key string, value []byte, revision uint64) (uint64, error) {
	if revision == 0 {
		return kv.Create(ctx, key, value)
	}
	return kv.Update(ctx, key, value, revision)
}

// SwapKey calls Swap for a key of a bucket.
func (c *Client) SwapKey(ctx context.Context, bucket, key string, value []byte, revision uint64) (uint64, error) {
	kv, err := c.JS.KeyValue(ctx, bucket)
	if err != nil {
		return 0, fmt.Errorf("open bucket %s: %w", bucket, err)
	}
	return Swap(ctx, kv, key, value, revision)
}

// Codes of the JetStream API for a message whose expected predecessor is not the last.
const (
	codeNotLast         = 10071
	codeNotLastReplicas = 10164
)

// IsConflict reports whether err means that another process changed a key meanwhile.
func IsConflict(err error) bool {
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return true
	}
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (int(api.ErrorCode) == codeNotLast || int(api.ErrorCode) == codeNotLastReplicas)
}

// RetryConflicts repeats do, after a short wait, as long as it returns a conflict. do reads a key
// and swaps it; it may have read from a replica that is behind. The error is the last of do, joined
// with that of ctx if it ended.
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

// ReadKey returns the value and revision of a key from the leader of a bucket: no value and
// revision 0 if there is none, for whatever reason. It needs only the right to STREAM.MSG.GET,
// whose answer is JSON. A server sends answers to any subject that the requester names, and raw
// values, as DIRECT.GET returns them, must not go to arbitrary subjects.
func (c *Client) ReadKey(ctx context.Context, bucket, key string) (value []byte, revision uint64, err error) {
	m, err := c.ReadEntry(ctx, bucket, key)
	if m == nil {
		return nil, 0, err
	}
	return m.Data, m.Seq, nil
}

// ReadJSON is ReadKey for a value in JSON, which it decodes into v; if there is none, it leaves v
// unchanged.
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

// ReadEntry is ReadKey for the complete message, nil if there is no value.
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

// Deletes reports whether a message of a bucket marks its key as deleted.
func (m *StoredMessage) Deletes() bool {
	if len(m.Header) == 0 {
		return false
	}
	h, err := nats.DecodeHeadersMsg(m.Header)
	return err == nil && (h.Get(keyOperation) != "" || h.Get(jetstream.MarkerReasonHeader) != "")
}

// keyOperation is the header of a deletion or purge marker (ADR-8).
const keyOperation = "KV-Operation"

// Keys returns the keys of a bucket in no particular order. It creates no consumer, as not every
// user may.
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
