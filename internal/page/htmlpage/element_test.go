package htmlpage

import (
	"strings"
	"testing"
)

// TestLookup: the table of short names knows what lookupAny does, in any case,
// and nothing else.
func TestLookup(t *testing.T) {
	known := 0
	for _, n := range shortNames {
		if n.length == 0 {
			continue
		}
		known++
		var name []byte
		for i := range n.length {
			name = append(name, byte(n.key>>(8*i)))
		}
		want := lookupAny(name)
		if want == elemInline {
			t.Errorf("%q is inline", name)
		}
		for _, spelling := range []string{string(name), strings.ToUpper(string(name)), string(name[:1]) + strings.ToUpper(string(name[1:]))} {
			inPage := []byte(spelling + " class='x'>")
			if got := lookup(inPage[:len(spelling)]); got != want || lookup([]byte(spelling)) != want {
				t.Errorf("%q: got %d, want %d", spelling, got, want)
			}
		}
		for _, other := range []string{string(name) + "\x00", string(name) + "-", string(name[:len(name)-1]) + "\x00", "\x00"} {
			if got, want := lookup([]byte(other)), lookupAny([]byte(other)); got != want {
				t.Errorf("%q: got %d, want %d", other, got, want)
			}
		}
	}
	if known != 78 {
		t.Errorf("%d names in the table: some share a slot", known)
	}
	for name, want := range map[string]element{
		"blockquote": elemBlock, "FigCaption": elemBlock, "foreignObject": elemForeignObject, "plaintext": elemPlaintext,
		"span": elemInline, "b": elemInline, "h7": elemInline, "h\x11": elemInline, "x-y": elemInline, "noscripts": elemInline,
	} {
		if got := lookup([]byte(name)); got != want {
			t.Errorf("%q: got %d, want %d", name, got, want)
		}
	}
}

// TestPlainEnd: eight bytes at a time and one by one give the same.
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
