package weburl

import (
	"errors"
	"strings"
	"testing"
)

// A page may have thousands of links that consist of separators and stray signs. The complete
// parser, which takes time quadratic in their segments, must not get their paths: its allocations
// would show that.
func TestLongPathsTakeLinearTime(t *testing.T) {
	b, err := NewBase("https://h.org/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"%/", "%", "/%", "a\\", "\\", "\xff/", "a\t/", "%zz/", "%%32e/", "a/../%/", "é/\xc3/", "\x01/", "/\x1f"} {
		long := "x" + strings.Repeat(piece, 1500/len(piece))
		for _, prefix := range []string{"", "/", "?", "//u@h/", "https://u:p@H.example:443/", "http://bücher.example/", "https://127.1/", "https:\\\\h\\", "https:", "https:/", "https:////u@h/", "////h/", "http:/h/"} {
			ref := prefix + long
			allocs := testing.AllocsPerRun(1, func() { _, err = b.Resolve(ref) })
			if err != nil && !errors.Is(err, ErrTooLong) || allocs > 200 {
				t.Errorf("Resolve(%.40q…) allocates %v times, %v", ref, allocs, err)
			}
		}
	}
}
