package testweb

import "math/bits"

// rng is SplitMix64. Its state is one word, so that a generator per page costs nothing.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return scramble(uint64(*r))
}

// intn returns a uniform number from 0 to n-1; n must be positive.
func (r *rng) intn(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// chance returns true with probability p.
func (r *rng) chance(p float64) bool { return fraction(r.next()) < p }

// fraction maps a hash uniformly to [0, 1).
func fraction(h uint64) float64 { return float64(h>>11) / (1 << 53) }

func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// mix hashes numbers into one; their order matters.
func mix(values ...uint64) uint64 {
	h := uint64(0x5e1e)
	for _, v := range values {
		h = scramble(h*0x9e3779b97f4a7c15 + v + 1)
	}
	return h
}
