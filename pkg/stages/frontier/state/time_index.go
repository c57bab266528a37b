package state

import "encoding/binary"

// scanTimes is scan for keys that continue with a time, the due index, the lines of
// domains and the retry index. Those that are too short for one are removed.
func (s *Partition) scanTimes(pre, from []byte, do func(key []byte, at int64, rest []byte) (bool, error)) error {
	return s.store.scan(pre, from, func(key, _ []byte) (bool, error) {
		after := key[len(pre):]
		if len(after) < 8 {
			s.stray(key)
			return true, nil
		}
		return do(key, int64(binary.BigEndian.Uint64(after)), after[8:])
	})
}
