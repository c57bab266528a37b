package table

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// Turn collects changes of one partition and commits them as one batch: all or none. Until then, the store does not
// show them.
type Turn struct {
	partition int
	db        *pebble.DB
	batch     *pebble.Batch
	own       map[string][]byte // underived keys set in this turn, nil for deleted ones
	err       error             // the first error
	puts
}

// puts are reusable buffers for the record that is being put.
type puts struct {
	key, value []byte
	derived    Keys
	free       []byte // see keep
}

// keep returns a copy of keys. It cuts copies from a shared block.
func (p *puts) keep(keys []byte) []byte {
	if len(keys) > len(p.free) {
		p.free = make([]byte, max(1024, len(keys)))
	}
	n := copy(p.free, keys)
	kept := p.free[:n:n]
	p.free = p.free[n:]
	return kept
}

// NewTurn begins the first turn of a partition.
func NewTurn(db *pebble.DB, partition int) *Turn {
	return &Turn{partition: partition, db: db, batch: db.NewBatch(), own: make(map[string][]byte)}
}

// Set stores a value under a key that no record derives. The value must not be modified afterwards.
func (t *Turn) Set(key, value []byte) {
	t.own[string(key)] = value
	t.Fail(t.batch.Set(key, value, nil))
}

// Get returns the value of a key that no record derives, including changes of the turn, nil if
// there is none.
func (t *Turn) Get(key []byte) ([]byte, error) {
	if value, ok := t.own[string(key)]; ok {
		return value, nil
	}
	return Get(t.db, key)
}

// SetJSON stores a value as JSON.
func (t *Turn) SetJSON(key []byte, v any) {
	text, err := json.Marshal(v)
	t.Fail(err)
	t.Set(key, text)
}

// Delete deletes a key that no record derives, including a stray index key.
func (t *Turn) Delete(key []byte) {
	t.own[string(key)] = nil
	t.Fail(t.batch.Delete(key, nil))
}

// DeletePrefix removes all keys with a prefix.
func (t *Turn) DeletePrefix(prefix []byte) {
	maps.DeleteFunc(t.own, func(key string, _ []byte) bool { return strings.HasPrefix(key, string(prefix)) })
	t.Fail(t.batch.DeleteRange(prefix, After(prefix), nil))
}

// Fail makes the commit of the turn fail with an error, unless it is nil.
func (t *Turn) Fail(err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("write store: %w", err)
	}
}

// Empty reports whether the turn has changed nothing.
func (t *Turn) Empty() bool { return t.batch.Empty() }

// Commit writes the turn and begins the next one.
func (t *Turn) Commit() error {
	if t.err != nil {
		return t.err
	}
	clear(t.own)
	if t.batch.Empty() {
		return nil
	}
	if err := t.batch.Commit(pebble.Sync); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	t.batch.Reset()
	return nil
}

// Close discards uncommitted changes.
func (t *Turn) Close() { _ = t.batch.Close() }
