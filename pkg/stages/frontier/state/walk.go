package state

// reviewed is how many keys a turn looks at while it walks through many.
const reviewed = 1000

// walk calls do for some keys with a prefix, from the one behind the last that is done, and reports whether they were the
// last. What is done is what follows the prefix.
func (s *Partition) walk(pre []byte, done *[]byte, do func(key, value []byte) error) (last bool, err error) {
	var from []byte
	if len(*done) > 0 {
		from = append(append(pre[:len(pre):len(pre)], *done...), 0)
	}
	n := 0
	last = true
	err = s.store.scan(pre, from, func(key, value []byte) (bool, error) {
		if n++; n > reviewed {
			last = false
			return false, nil
		}
		*done = append((*done)[:0], key[len(pre):]...)
		return true, do(key, value)
	})
	return last, err
}

// nextBatch returns the next URLs of a sweep, and whether they are the last.
func (s *Partition) nextBatch(pre []byte, crawl string, at *sweep) (ids []urlID, last bool, err error) {
	last, err = s.walk(pre, &at.After, func(key, _ []byte) error {
		if hash, ok := hashAtEnd(key[len(pre):]); ok {
			ids = append(ids, urlID{crawl, hash})
		}
		return nil
	})
	return ids, last, err
}

// inTurn does as much of some parts as a turn may, and reports whether all are done. Each notes where it continues; do
// returns how many steps it took, at most so many.
func inTurn[T any](parts []T, do func(part *T, most int) (int, error)) (all bool, err error) {
	left := reviewed
	for i := range parts {
		n, err := do(&parts[i], left)
		if err != nil {
			return false, err
		}
		if left -= n + 1; left <= 0 {
			return false, nil
		}
	}
	return true, nil
}
