package table

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Prefix starts the keys of a kind in a partition.
func Prefix(partition int, kind byte) []byte {
	return appendPrefix(make([]byte, 0, 64), partition, kind)
}

// Partition starts all keys of a partition.
func Partition(partition int) []byte { return Prefix(partition, 0)[:partitionLen] }

const partitionLen = 2

func appendPrefix(b []byte, partition int, kind byte) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(partition)), kind)
}

// Name appends a name and its terminator to a key.
func Name(key []byte, name string) []byte { return append(append(key, name...), 0) }

// CutName splits a key into a leading name and the rest.
func CutName(key []byte) (name string, rest []byte, err error) {
	i := bytes.IndexByte(key, 0)
	if i < 0 {
		return "", nil, errors.New("key without the end of a name")
	}
	return string(key[:i]), key[i+1:], nil
}

// After returns the first key after all keys with a prefix.
func After(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// Keys is a list of keys without their partition. Add begins a key; the methods after it append to
// that key.
type Keys struct {
	b     []byte // each key preceded by its length in two bytes
	begin int    // offset of the last key's length
}

// Add begins a key of a kind.
func (k *Keys) Add(kind byte) *Keys {
	k.begin = len(k.b)
	k.b = append(k.b, 0, 0, kind)
	return k.sized()
}

// Name appends a name and its terminator.
func (k *Keys) Name(name string) *Keys {
	k.b = Name(k.b, name)
	return k.sized()
}

// Text appends a text that ends the key.
func (k *Keys) Text(text string) *Keys {
	k.b = append(k.b, text...)
	return k.sized()
}

// Bytes appends raw bytes.
func (k *Keys) Bytes(b []byte) *Keys {
	k.b = append(k.b, b...)
	return k.sized()
}

// Int appends a number that is not negative.
func (k *Keys) Int(n int64) *Keys {
	k.b = binary.BigEndian.AppendUint64(k.b, uint64(n))
	return k.sized()
}

func (k *Keys) sized() *Keys {
	binary.BigEndian.PutUint16(k.b[k.begin:], uint16(len(k.b)-k.begin-2))
	return k
}

func (k *Keys) reset() { k.b = k.b[:0] }

// nextKey splits off the first key.
func nextKey(keys []byte) (key, rest []byte) {
	n := 2 + int(binary.BigEndian.Uint16(keys))
	return keys[2:n], keys[n:]
}

// hasKey reports whether keys contains key.
func hasKey(keys, key []byte) bool {
	for len(keys) > 0 {
		var one []byte
		if one, keys = nextKey(keys); bytes.Equal(one, key) {
			return true
		}
	}
	return false
}
