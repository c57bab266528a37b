package htmlpage

import (
	"strings"
	"testing"
)

// An element's name is recognized in any case.
func TestLookup(t *testing.T) {
	for name, want := range map[string]element{
		"blockquote": elemBlock, "FigCaption": elemBlock, "foreignObject": elemForeignObject, "plaintext": elemPlaintext,
		"span": elemInline, "b": elemInline, "h7": elemInline, "h\x11": elemInline, "x-y": elemInline, "noscripts": elemInline,
		"P": elemBlock, "tD": elemCell, "A": elemAnchor, "lin\u212a": elemInline, "": elemInline, "a\x00": elemInline,
	} {
		if got := lookup([]byte(name)); got != want {
			t.Errorf("%q: got %d, want %d", name, got, want)
		}
	}
}

// Processing eight bytes at a time and one by one has the same result.
func TestPlainEnd(t *testing.T) {
	oneByOne := func(b []byte, i int) int {
		for {
			i = until(b, i, breaksText)
			if i+1 >= len(b) || b[i] != ' ' || has(b[i+1], breaksText) {
				return i
			}
			i++
		}
	}
	for _, stop := range []string{" ", "  ", "\n", " \n", "&", " &", "\u00a0", "\u00c0", "\x00", "\x01", "\x7f", "\u00e9", "", "<", " x ", "\u2003"} {
		for before := 1; before < 20; before++ {
			for after := range 12 {
				b := []byte(strings.Repeat("w", before) + stop + strings.Repeat("v", after))
				if got, want := plainEnd(b, 1), oneByOne(b, 1); got != want {
					t.Fatalf("%q: got %d, want %d", b, got, want)
				}
			}
		}
	}
}
