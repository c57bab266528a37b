package state

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"seine/pkg/stages/frontier/table"
)

// KindFingerprint tells apart what there is of a kind of keys, in whichever partition each
// key is.
type KindFingerprint struct {
	Keys int64
	Sum  uint64 // of a hash of each key, without its partition, and its value
}

// fingerprintSeed is the same for all stores of a process.
var fingerprintSeed = maphash.MakeSeed()

// Fingerprint reads all keys of some kinds, or of every kind if none is named, in partitions 0 to n-1. Those of two stores
// of one process can be compared.
func (s *Store) Fingerprint(ctx context.Context, n int, kinds ...byte) (map[byte]KindFingerprint, error) {
	all := make(map[byte]KindFingerprint)
	var h maphash.Hash
	h.SetSeed(fingerprintSeed)
	for p := range n {
		err := s.scan(table.Partition(p), nil, func(key, value []byte) (bool, error) {
			kind := key[2]
			if len(kinds) > 0 && !slices.Contains(kinds, kind) {
				return true, nil
			}
			h.Reset()
			var size [8]byte
			binary.BigEndian.PutUint64(size[:], uint64(len(key)))
			for _, part := range [][]byte{size[:], key[2:], value} {
				_, _ = h.Write(part)
			}
			f := all[kind]
			f.Keys++
			f.Sum += h.Sum64()
			all[kind] = f
			return f.Keys%4096 != 0 || ctx.Err() == nil, nil
		})
		if err != nil || ctx.Err() != nil {
			return nil, cmp.Or(err, ctx.Err())
		}
	}
	return all, nil
}
