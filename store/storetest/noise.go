package storetest

import "math/rand/v2"

// Noise is a text of n bytes, the same for each n, that packing makes no smaller.
func Noise(n int) string {
	r := rand.New(rand.NewPCG(0, uint64(n))) //nolint:gosec // no secret
	b := make([]byte, n)
	for i := range b {
		b[i] = '#' + byte(r.IntN('['-'#'))
	}
	return string(b)
}
