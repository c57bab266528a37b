package traps

import (
	"math"
	"math/bits"
	"slices"
)

// smallSet is a set of hashes that keeps 16 bits of each: the probability of a false match is the
// size of the set divided by 65,536.
type smallSet []uint16

// maxFew is the maximum number of hashes in a set; further ones are dropped.
const maxFew = 1000

func (s smallSet) has(h uint64) bool { return slices.Contains(s, uint16(h>>40)) }

func (s *smallSet) add(h uint64) {
	if len(*s) < maxFew && !s.has(h) {
		*s = append(*s, uint16(h>>40))
	}
}

func (s *smallSet) join(o smallSet) {
	for _, x := range o {
		s.add(uint64(x) << 40)
	}
}

// hyperLogLog estimates the number of distinct hashes, with a standard error of 13 % (Flajolet et
// al., HyperLogLog, 2007). Order and repetition do not matter, and two estimates can be joined.
type hyperLogLog struct {
	ranks [manyRanks]uint8
	count uint32
}

const manyRanks = 64

func (l *hyperLogLog) add(h uint64) {
	h = mix(h, 13)
	i, rank := h%manyRanks, uint8(bits.LeadingZeros64(h)+1)
	if rank > l.ranks[i] {
		l.ranks[i] = rank
		l.estimate()
	}
}

func (l *hyperLogLog) join(o *hyperLogLog) {
	for i := range l.ranks {
		l.ranks[i] = max(l.ranks[i], o.ranks[i])
	}
	l.estimate()
}

// estimate follows the paper, without its correction for numbers near 2^32.
func (l *hyperLogLog) estimate() {
	const alpha = 0.709 // for 64 ranks
	sum, zeros := 0.0, 0
	for _, r := range l.ranks {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			zeros++
		}
	}
	n := alpha * manyRanks * manyRanks / sum
	if n <= 2.5*manyRanks && zeros > 0 {
		n = manyRanks * math.Log(manyRanks/float64(zeros))
	}
	l.count = uint32(min(math.Round(n), math.MaxUint32))
}
