package partition

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// leaseValue is the value of a key, for the other processes and for people.
type leaseValue struct {
	Owner  string    `json:"owner"`
	Since  time.Time `json:"since"`
	Run    string    `json:"run,omitempty"`
	Static bool      `json:"static,omitempty"` // of a lease: its owner takes only its assigned partitions
	Only   []int     `json:"only,omitempty"`   // of a member: the assigned partitions
}

// ParseLeaseKey returns the group and the partition of a lease key of BucketLeases; ok is false for
// other keys.
func ParseLeaseKey(key string) (group string, p int, ok bool) {
	tokens := strings.Split(key, ".")
	if len(tokens) != 3 || tokens[0] != "lease" {
		return "", 0, false
	}
	p, err := strconv.Atoi(tokens[2])
	return tokens[1], p, err == nil
}

// LeaseOwner returns the owner of a lease and its last renewal; ok is false if the value cannot be
// decoded.
func LeaseOwner(value []byte) (owner string, renewed time.Time, ok bool) {
	var v leaseValue
	err := jsontext.Unmarshal(value, &v)
	return v.Owner, v.Since, err == nil
}

// tryAcquire creates the key of p, or takes over a key that this owner held before.
func (l *Leases) tryAcquire(p int) (uint64, error) {
	ctx, cancel := l.timeout()
	defer cancel()
	rev, err := l.kv.Create(ctx, l.key(p), l.value())
	if err == nil {
		return rev, nil
	}
	if !jsclient.IsConflict(err) {
		return 0, fmt.Errorf("claim partition %d: %w", p, err)
	}
	e, err := l.kv.Get(ctx, l.key(p))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, errHeld // it expired just now
	}
	if err != nil {
		return 0, fmt.Errorf("claim partition %d: %w", p, err)
	}
	var v leaseValue
	if err := jsontext.Unmarshal(e.Value(), &v); err != nil || v.Owner != l.Owner {
		return 0, errHeld
	}
	rev, err = l.kv.Update(ctx, l.key(p), l.value(), e.Revision())
	if jsclient.IsConflict(err) {
		return 0, errHeld
	}
	if err != nil {
		return 0, fmt.Errorf("claim partition %d: %w", p, err)
	}
	return rev, nil
}

var errHeld = errors.New("held by another owner")

// extend renews one lease.
func (l *Leases) extend(le *lease) error {
	ctx, cancel := l.timeout()
	defer cancel()
	asked := time.Now()
	rev, err := l.kv.Update(ctx, l.key(le.partition), l.value(), le.revision)
	switch {
	case err == nil:
		le.revision, le.renewed, le.next = rev, asked, asked.Add(l.every())
		if le.staying() {
			le.fence.Reset(l.ownerDeadline() - time.Since(asked))
		}
		return nil
	case jsclient.IsConflict(err) && !l.recognise(ctx, le):
		l.mu.Lock() // for Owned
		le.gone = true
		l.mu.Unlock()
		return nil
	}
	le.next = time.Now().Add(l.retryInterval())
	return fmt.Errorf("renew partition %d: %w", le.partition, err)
}

// recognise reports whether the key of a lease still belongs to this run: the answer to the last
// renewal may have been lost. It returns true if an error leaves that open.
func (l *Leases) recognise(ctx context.Context, le *lease) bool {
	e, err := l.kv.Get(ctx, l.key(le.partition))
	if err != nil {
		return !errors.Is(err, jetstream.ErrKeyNotFound)
	}
	var v leaseValue
	switch err := jsontext.Unmarshal(e.Value(), &v); {
	case err == nil && v.Run == l.run:
		le.revision = e.Revision()
		return true
	case err == nil && v.Owner == l.Owner:
		l.mu.Lock()
		l.usurped = l.twin("another process")
		l.mu.Unlock()
	}
	return false
}

// remove deletes the key of a lease.
func (l *Leases) remove(le *lease) error {
	ctx, cancel := l.timeout()
	defer cancel()
	err := l.kv.Delete(ctx, l.key(le.partition), jetstream.LastRevision(le.revision))
	if jsclient.IsConflict(err) && l.recognise(ctx, le) {
		err = l.kv.Delete(ctx, l.key(le.partition), jetstream.LastRevision(le.revision))
	}
	if err == nil || jsclient.IsConflict(err) {
		l.mu.Lock()
		le.gone = true
		l.mu.Unlock()
		return nil
	}
	le.next = time.Now().Add(l.retryInterval())
	return fmt.Errorf("release partition %d: %w", le.partition, err)
}

func (l *Leases) me() string { return keyToken(l.Owner) }

func (l *Leases) memberKey() string { return "member." + l.Group + "." + l.me() }

func (l *Leases) key(p int) string { return "lease." + l.Group + "." + strconv.Itoa(p) }

func (l *Leases) value() []byte {
	return messages.Encode(leaseValue{Owner: l.Owner, Since: time.Now().UTC(), Run: l.run, Static: len(l.Pinned) > 0})
}

// keyToken converts s to one token of a KV key.
func keyToken(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s)
}
