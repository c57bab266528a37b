package state

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"

	"seine/pkg/messages"
)

// base is what all parts of a partition share: its store, its time, and the current turn.
type base struct {
	store      *Store
	tx         *tx
	partition  int
	partitions int // how many there are
	epoch      uint64
	era        func() uint64
	time       *partitionTime
	log        *slog.Logger
	offline    bool // see Options
	replaying  bool // the state is behind the streams
	positions  map[string]messages.Position

	loggedRepairs map[string]bool // kinds of faults of the store that were logged: see reportRepair
	suspects      map[string]bool // crawls to be audited from the end of this turn on: see audit
	suspectAll    bool            // all that are awake: see auditAll
}

// reportRepair counts a repair of the store, and logs it. The first of each kind is a warning, later ones are for debugging:
// one fault often damages a thousand keys.
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

// setAside moves a value out of the way, to where a person may look at it.
func (b *base) setAside(key []byte) error {
	return b.tx.Quarantine(kindSetAside, key)
}

// stray removes an entry of an index that no record derives. Where one is wrong, others may be.
func (b *base) stray(key []byte) {
	key = bytes.Clone(key)
	b.tx.Delete(key)
	b.reportRepair(repairOf(key[2]), "an entry of an index leads nowhere, it is removed", "key", key)
	b.auditAll()
}

// audit has all URLs of a crawl counted again and looked for in the indexes: where
// one thing is wrong, others may be. That is a review with a count; it begins when the turn is committed.
func (b *base) audit(name string) { b.suspects[name] = true }

// auditAll is for faults of which it is not known what crawls they are of.
func (b *base) auditAll() { b.suspectAll = true }

// scanTimes is scan for keys that continue with a time, from a time on: the due index, the lines of
// domains and the retry index. Those that are too short for one are removed.
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

// walk calls do for some keys with a prefix, and reports whether they were the last. It begins behind the key whose part after the
// prefix is done, and sets done to that part of the last key that it calls do for.
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

// reviewed is how many keys a turn looks at while it walks through many.
const reviewed = 1000

// doSome calls do for keys with a prefix and their values, in order, with how many steps a turn may still take. It returns how
// many it took, as many if some may be left, and notes where it continues. All reports whether there is nothing more to do.
func (b *base) doSome(pre []byte, do func(key, value []byte, most int) (int, error)) (all bool, err error) {
	left := reviewed
	err = b.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		n, err := do(bytes.Clone(key), bytes.Clone(value), left)
		left -= n + 1
		return left > 0, err
	})
	return left > 0, err
}
