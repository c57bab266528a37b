package state

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"

	"seine/pkg/messages"
)

// base is shared by all parts of a partition: the store, the partition's time and the current turn.
type base struct {
	store      *Store
	tx         *tx
	partition  int
	partitions int // total number of partitions
	epoch      uint64
	era        func() uint64
	time       *partitionTime
	log        *slog.Logger
	offline    bool // see Options
	replaying  bool // the state is behind the streams
	positions  map[string]messages.Position

	loggedRepairs map[string]bool // kinds of store faults already logged as warnings: see reportRepair
	suspects      map[string]bool // crawls to audit at the end of this turn: see audit
	suspectAll    bool            // audit all active crawls: see auditAll
}

// reportRepair counts and logs a repair of the store. The first of each kind is a warning, later
// ones are debug messages: one fault often damages a thousand keys.
func (b *base) reportRepair(what, text string, about ...any) {
	repairsTotal.WithLabelValues(what).Inc()
	level := slog.LevelWarn
	if b.loggedRepairs[what] {
		level = slog.LevelDebug
	}
	b.loggedRepairs[what] = true
	b.log.Log(context.Background(), level, "the store contradicted itself and was repaired; more of the kind is counted by seine_frontier_repairs_total",
		append([]any{"what", what, "found", text}, about...)...)
}

// setAside quarantines an unreadable value for a person to examine.
func (b *base) setAside(key []byte) error {
	return b.tx.Quarantine(kindSetAside, key)
}

// stray removes an index entry that no record derives, and requests an audit of all active crawls:
// other entries may be wrong too.
func (b *base) stray(key []byte) {
	key = bytes.Clone(key)
	b.tx.Delete(key)
	b.reportRepair(repairOf(key[2]), "an entry of an index leads nowhere, it is removed", "key", key)
	b.auditAll()
}

// audit requests an audit of a crawl: a review that recounts all its URLs and checks their index
// keys. Use it after a fault, since there may be more. The audit begins when the turn is committed.
func (b *base) audit(name string) { b.suspects[name] = true }

// auditAll requests an audit of all active crawls, for faults that cannot be assigned to one.
func (b *base) auditAll() { b.suspectAll = true }

// scanTimes scans keys whose prefix is followed by a time, starting at from: the due index, the
// lines of domains and the retry index. It removes keys too short to hold a time.
func (b *base) scanTimes(pre []byte, from int64, do func(key []byte, at int64, rest []byte) (bool, error)) error {
	lower := binary.BigEndian.AppendUint64(bytes.Clone(pre), uint64(max(from, 0)))
	return b.store.scan(pre, lower, func(key, _ []byte) (bool, error) {
		after := key[len(pre):]
		if len(after) < 8 {
			b.stray(key)
			return true, nil
		}
		return do(key, int64(binary.BigEndian.Uint64(after)), after[8:])
	})
}

// walk calls do for at most reviewed keys with a prefix, and reports whether they were the last. It
// starts after the key that ends with done, and sets done to the end of the last key it passed to
// do.
func (b *base) walk(pre []byte, done *[]byte, do func(key, value []byte) error) (last bool, err error) {
	var from []byte
	if len(*done) > 0 {
		from = append(append(pre[:len(pre):len(pre)], *done...), 0)
	}
	n := 0
	last = true
	err = b.store.scan(pre, from, func(key, value []byte) (bool, error) {
		if n++; n > reviewed {
			last = false
			return false, nil
		}
		*done = append((*done)[:0], key[len(pre):]...)
		return true, do(key, value)
	})
	return last, err
}

// reviewed is the number of keys that one turn processes while walking through many.
const reviewed = 1000

// doSome calls do for keys with a prefix, in order, with the number of steps left in this turn. do
// returns the number of steps it took, or all of them if it may have more to do, and stores where
// it continues. all reports whether nothing is left.
func (b *base) doSome(pre []byte, do func(key, value []byte, most int) (int, error)) (all bool, err error) {
	left := reviewed
	err = b.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		n, err := do(bytes.Clone(key), bytes.Clone(value), left)
		left -= n + 1
		return left > 0, err
	})
	return left > 0, err
}
