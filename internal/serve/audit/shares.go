package audit

import (
	"bytes"
	"maps"
	"slices"
)

// unknownPart is the divisor of the share of the older file for all clients without a token.
const unknownPart = 16

// shares returns the newest lines of each caller, in order, up to l.max bytes in total.
func (l *Log) shares() ([]byte, error) {
	type line struct {
		who  string
		text []byte
	}
	var all []line
	sizes := make(map[string]int64)
	for _, name := range []string{older, current} {
		err := l.each(name, func(e *Entry, text []byte) {
			all = append(all, line{e.Who, bytes.Clone(text)})
			sizes[e.Who] += int64(len(text))
		})
		if err != nil {
			return nil, err
		}
	}
	if size, ok := sizes[""]; ok {
		sizes[""] = min(size, l.max/unknownPart)
	}
	share := equalShare(slices.Collect(maps.Values(sizes)), l.max)
	left := make(map[string]int64, len(sizes))
	for who, size := range sizes {
		left[who] = min(size, share)
	}
	var kept [][]byte
	for _, line := range slices.Backward(all) {
		if left[line.who] -= int64(len(line.text)); left[line.who] >= 0 {
			kept = append(kept, line.text)
		}
	}
	slices.Reverse(kept)
	return bytes.Join(kept, nil), nil
}

// equalShare returns the largest share for each size such that smaller ones leave their rest to the
// others.
func equalShare(sizes []int64, total int64) int64 {
	slices.Sort(sizes)
	for i, size := range sizes {
		if share := total / int64(len(sizes)-i); size > share {
			return share
		}
		total -= size
	}
	return total
}
