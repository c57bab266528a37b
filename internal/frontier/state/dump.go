package state

import "seine/internal/frontier/table"

// Records calls do with each key of a partition, in order. It passes the kind, the rest of the key,
// and the record, or the value of a key that no table has. Tests compare owners by it.
func (s *Store) Records(of int, do func(kind byte, key string, record any)) error {
	return s.scan(table.Partition(of), nil, func(key, value []byte) (_ bool, err error) {
		kind, rest, record := key[2], string(key[3:]), any(string(value))
		switch kind {
		case kindURL:
			record, err = decodeRecord(value)
		case kindHost:
			record, err = decodeHost(rest, value)
		case kindCounters:
			record, err = decodeCrawl(rest, value)
		}
		if err == nil {
			do(kind, rest, record)
		}
		return err == nil, err
	})
}
