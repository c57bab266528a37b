package natstest

import (
	"bytes"
	"io"
	"math/rand/v2"
)

// Noise returns a function that writes n pseudo-random bytes in pieces of odd sizes. The seed
// determines the bytes.
func Noise(seed uint64, n int) func(io.Writer) error {
	return func(w io.Writer) error {
		src := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
		buf := make([]byte, 300_007)
		for left := n; left > 0; {
			k := min(left, 1+int(src.Uint64()%uint64(len(buf))))
			_, _ = src.Read(buf[:k])
			if _, err := w.Write(buf[:k]); err != nil {
				return err
			}
			left -= k
		}
		return nil
	}
}

// NoiseBytes returns the bytes that Noise writes.
func NoiseBytes(seed uint64, n int) []byte {
	var b bytes.Buffer
	_ = Noise(seed, n)(&b)
	return b.Bytes()
}
