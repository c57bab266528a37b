package table

import "bytes"

// Record is a record of a table. It embeds a Row.
type Record[K any] interface {
	// Encode appends the stored form of the record.
	Encode(b []byte) []byte
	// Derive adds the index keys of the record. It depends on nothing but the key and the record.
	Derive(key K, keys *Keys)
	row() *Row
}

// Row remembers the stored index keys of a record. It is the zero value for a record that is not
// stored.
type Row struct{ keys []byte }

func (r *Row) row() *Row { return r }

// Has reports whether the stored record derives an index key, given with its partition.
func (r *Row) Has(key []byte) bool { return hasKey(r.keys, key[partitionLen:]) }

// Table is a kind of records.
type Table[K any, V Record[K]] struct {
	Kind byte
	// Key appends the key of a record to a prefix.
	Key func(prefix []byte, key K) []byte
	// Decode decodes the output of Encode.
	Decode func(key K, value []byte) (V, error)
}

// At returns the key of a record in a partition.
func (t *Table[K, V]) At(partition int, key K) []byte {
	return t.Key(Prefix(partition, t.Kind), key)
}

// Load reads a record; found is false if there is none. The error is that of Decode if the record is unreadable.
func (t *Table[K, V]) Load(turn *Turn, key K) (v V, found bool, err error) {
	turn.key = t.Key(appendPrefix(turn.key[:0], turn.partition, t.Kind), key)
	found, err = View(turn.db, turn.key, func(value []byte) (err error) {
		if v, err = t.Decode(key, value); err == nil {
			t.Stored(turn, key, v)
		}
		return err
	})
	return v, found, err
}

// Stored notes that the store has the derived index keys of a record.
func (t *Table[K, V]) Stored(turn *Turn, key K, v V) {
	turn.derived.reset()
	v.Derive(key, &turn.derived)
	v.row().keys = turn.keep(turn.derived.b)
}

// Put stores a record, and updates its index keys by the difference between the stored and the
// derived ones.
func (t *Table[K, V]) Put(turn *Turn, key K, v V) {
	turn.key = t.Key(appendPrefix(turn.key[:0], turn.partition, t.Kind), key)
	turn.value = v.Encode(turn.value[:0])
	turn.Fail(turn.batch.Set(turn.key, turn.value, nil))
	turn.derived.reset()
	v.Derive(key, &turn.derived)
	turn.index(v.row(), turn.derived.b)
}

// Remove removes a record and its index keys.
func (t *Table[K, V]) Remove(turn *Turn, key K, v V) {
	turn.key = t.Key(appendPrefix(turn.key[:0], turn.partition, t.Kind), key)
	turn.Fail(turn.batch.Delete(turn.key, nil))
	turn.index(v.row(), nil)
}

// index updates the index keys of a record.
func (t *Turn) index(row *Row, keys []byte) {
	if bytes.Equal(row.keys, keys) {
		return
	}
	for key, rest := []byte(nil), row.keys; len(rest) > 0; {
		if key, rest = nextKey(rest); !hasKey(keys, key) {
			t.Fail(t.batch.Delete(t.whole(key), nil))
		}
	}
	for key, rest := []byte(nil), keys; len(rest) > 0; {
		if key, rest = nextKey(rest); !hasKey(row.keys, key) {
			t.Fail(t.batch.Set(t.whole(key), nil, nil))
		}
	}
	row.keys = t.keep(keys)
}

// whole returns a key with its partition prefix, valid until the next call.
func (t *Turn) whole(key []byte) []byte {
	t.key = append(appendPrefix(t.key[:0], t.partition, 0)[:partitionLen], key...)
	return t.key
}

// Verify compares a record's stored index keys with the store. It writes missing keys, and calls
// restored with the kind of each. Keys that no record derives are detected when an index is read:
// see Row.Has.
func (t *Turn) Verify(record interface{ row() *Row }, restored func(kind byte)) error {
	for key, rest := []byte(nil), record.row().keys; len(rest) > 0; {
		key, rest = nextKey(rest)
		there, err := Has(t.db, t.whole(key))
		if err != nil {
			return err
		}
		if !there {
			t.Fail(t.batch.Set(t.key, nil, nil))
			restored(key[0])
		}
	}
	return nil
}

// Quarantine moves an unreadable value to a separate kind, for a person to examine.
func (t *Turn) Quarantine(kind byte, key []byte) error {
	value, err := Get(t.db, key)
	if err != nil || value == nil {
		return err
	}
	t.Set(append(Prefix(t.partition, kind), key[partitionLen:]...), value)
	t.Delete(key)
	return nil
}
