package politeness

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// stateVersion is the first byte of an encoded State.
const stateVersion = 1

// Errors of ReadState for damaged or foreign bytes.
var (
	errShort = errors.New("read politeness: it ends too soon")
	errRange = errors.New("read politeness: a number is out of range")
)

// numbers are the stored values of a State, those that are rarely 0 first.
type numbers [11]uint64

// Append encodes the State: the version, a bit set of the nonzero numbers, and those numbers as
// varints. It does not allocate if b has room for 80 bytes.
func (s *State) Append(b []byte) []byte {
	all := numbersOf(s)
	set := uint64(0)
	for i, n := range all {
		if n != 0 {
			set |= 1 << i
		}
	}
	b = binary.AppendUvarint(append(b, stateVersion), set)
	for _, n := range all {
		if n != 0 {
			b = binary.AppendUvarint(b, n)
		}
	}
	return b
}

// ReadState decodes a State, and returns the remaining bytes.
func ReadState(b []byte) (State, []byte, error) {
	if len(b) == 0 {
		return State{}, nil, errShort
	}
	if b[0] != stateVersion {
		return State{}, nil, fmt.Errorf("read politeness: version %d is not known, only %d", b[0], stateVersion)
	}
	set, rest, err := uvarint(b[1:])
	if err != nil {
		return State{}, nil, err
	}
	var all numbers
	if set >= 1<<len(all) {
		return State{}, nil, errRange
	}
	for i := range all {
		if set&(1<<i) == 0 {
			continue
		}
		if all[i], rest, err = uvarint(rest); err != nil {
			return State{}, nil, err
		}
	}
	s, err := all.state()
	if err != nil {
		return State{}, nil, err
	}
	return s, rest, nil
}

func uvarint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	switch {
	case n == 0:
		return 0, nil, errShort
	case n < 0:
		return 0, nil, errRange
	}
	return v, b[n:], nil
}

func numbersOf(s *State) numbers {
	return numbers{
		zigzag(s.ended), uint64(s.wait), zigzag(s.ended - s.began), marksOf(s), uint64(s.smoothed),
		uint64(s.crawlDelay), uint64(s.slow), uint64(s.failures), uint64(s.opened), uint64(s.pause),
		uint64(s.refused),
	}
}

func (n *numbers) state() (State, error) {
	for _, i := range []int{1, 4, 5, 6, 9} {
		if n[i] > math.MaxInt64 {
			return State{}, errRange
		}
	}
	if n[7] > math.MaxUint32 || n[8] > math.MaxUint32 || n[10] > refusedRow {
		return State{}, errRange
	}
	s := State{
		ended: zagzig(n[0]), wait: time.Duration(n[1]), smoothed: time.Duration(n[4]),
		crawlDelay: time.Duration(n[5]), slow: time.Duration(n[6]), pause: time.Duration(n[9]),
		failures: uint32(n[7]), opened: uint32(n[8]), refused: uint8(n[10]),
	}
	s.began = s.ended - zagzig(n[2]) // wraps as in numbers
	return s, setMarks(&s, n[3])
}

// marksOf packs the small values.
func marksOf(s *State) uint64 {
	m := uint64(s.good)<<3 | uint64(s.why)<<1
	if s.asked {
		m |= 1
	}
	return m
}

func setMarks(s *State, m uint64) error {
	if m>>3 >= goodRow || m>>1&3 > uint64(forRetryAfter) {
		return errRange
	}
	s.asked, s.why, s.good = m&1 != 0, reason(m>>1&3), uint8(m>>3)
	return nil
}

// zigzag maps numbers near 0, of either sign, to small numbers.
func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func zagzig(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
