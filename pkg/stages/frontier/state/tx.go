package state

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// tx collects what one turn changes. It reaches the store as one batch, so a
// turn happens wholly or not at all.
type tx struct {
	store   *Store
	batch   *pebble.Batch
	records map[urlID]*urlRecord // read or changed in this turn
	changed map[urlID]*urlRecord // to be written at its end
	links   map[string]uint64    // keys of links kept in this turn, and their rounds
	err     error                // the first that went wrong

	metadata  map[urlID]*metadata // set in this turn, nil for what was taken away
	inherited map[string][]byte   // texts that were stored in this turn, or are stored, by their keys
}

func newTx(s *Store) *tx {
	return &tx{store: s, batch: s.db.NewBatch(), records: make(map[urlID]*urlRecord), changed: make(map[urlID]*urlRecord), links: make(map[string]uint64),
		metadata: make(map[urlID]*metadata), inherited: make(map[string][]byte)}
}

func (t *tx) set(key, value []byte) { t.setErr(t.batch.Set(key, value, nil)) }
func (t *tx) delete(key []byte)     { t.setErr(t.batch.Delete(key, nil)) }

// deletePrefix removes all keys with a prefix.
func (t *tx) deletePrefix(pre []byte) { t.setErr(t.batch.DeleteRange(pre, after(pre), nil)) }

func (t *tx) setErr(err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("write store: %w", err)
	}
}

// load reads the record with the key, nil if there is none. The same record
// is returned for the rest of the turn.
func (t *tx) load(id urlID, key []byte) (*urlRecord, error) {
	if r, ok := t.records[id]; ok {
		return r, nil
	}
	val, closer, err := t.store.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read store: %w", err)
	}
	defer closer.Close()
	r, err := decodeRecord(val)
	if err != nil {
		return nil, fmt.Errorf("read store: %x: %w", key, err)
	}
	t.records[id] = r
	return r, nil
}

// change notes that the record must be written at the end of the turn.
func (t *tx) change(id urlID, r *urlRecord) {
	t.records[id], t.changed[id] = r, r
}

// commit writes the turn and makes the tx ready for the next.
func (t *tx) commit() error {
	if t.err != nil {
		return t.err
	}
	if !t.batch.Empty() {
		if err := t.batch.Commit(pebble.Sync); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		t.batch.Reset()
	}
	clear(t.records)
	clear(t.changed)
	clear(t.links)
	clear(t.metadata)
	clear(t.inherited)
	return nil
}

func (t *tx) close() { _ = t.batch.Close() }
