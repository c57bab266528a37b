package table

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Scan calls do for every key with the prefix from lower on, until do returns false. A nil lower
// means the prefix.
func Scan(db pebble.Reader, prefix, lower []byte, do func(key, value []byte) (bool, error)) error {
	if lower == nil {
		lower = prefix
	}
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: After(prefix)})
	if err != nil {
		return fmt.Errorf("scan store: %w", err)
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		more, err := do(it.Key(), it.Value())
		if err != nil || !more {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return fmt.Errorf("scan store: %w", err)
	}
	return nil
}

// View calls do with the value of a key, and reports whether the key exists. The value is valid during the call only.
func View(db pebble.Reader, key []byte, do func(value []byte) error) (found bool, err error) {
	value, closer, err := db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read store: %w", err)
	}
	defer closer.Close()
	return true, do(value)
}

// Has reports whether a key exists.
func Has(db pebble.Reader, key []byte) (bool, error) {
	return View(db, key, func([]byte) error { return nil })
}

// Get returns a copy of the value of a key: nil if the key does not exist, not nil if the value is empty.
func Get(db pebble.Reader, key []byte) (value []byte, err error) {
	_, err = View(db, key, func(v []byte) error {
		value = append([]byte{}, v...)
		return nil
	})
	return value, err
}
