package charset

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// TestMemory: what is allocated is bounded by the size of the document, whatever
// is in it, also counting what is given back while a buffer grows.
func TestMemory(t *testing.T) {
	const size = 1 << 20
	for _, label := range []string{
		"", "utf-8", "utf-16le", "windows-1252", "koi8-r", "gb18030", "gbk", "big5", "euc-jp", "shift_jis", "euc-kr", "iso-2022-jp", "replacement",
	} {
		for _, piece := range []string{"\xff", "\x81\x30\x81\x30", "\x90\x30\x81\x30", "\x8f\xb0\xa1", "\xb0\xa1", "\x1b$B$F", "\x1b(J", "<meta charset=x>\xe9", "a\x00"} {
			body := bytes.Repeat([]byte(piece), size/len(piece))
			Decode([]byte(piece), "text/html; charset="+label)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			Decode(body, "text/html; charset="+label)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 16*size {
				t.Errorf("%s %q: %d bytes allocated", label, piece, used)
			}
		}
	}
}

// TestQueryMemory: the query of a link grows to what its characters can become,
// and nothing is allocated for each of them.
func TestQueryMemory(t *testing.T) {
	for _, label := range []string{"windows-1252", "gb18030", "big5", "iso-2022-jp"} {
		e, _ := Lookup(label)
		for _, r := range []string{"é", "你", "\U00010000", "テ¥"} {
			q := strings.Repeat(r, 1000)
			e.Query(q)
			if n := testing.AllocsPerRun(10, func() { e.Query(q) }); n > 50 {
				t.Errorf("%s %q: %.0f allocations", label, r, n)
			}
		}
	}
}

// TestTables: every character of the decoders' tables encodes to bytes that
// decode to it.
func TestTables(t *testing.T) {
	for _, label := range []string{"gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr", "koi8-r", "windows-1252", "iso-2022-jp"} {
		e, _ := Lookup(label)
		encode, known := e.encoder(), 0
		for r := rune(0x80); r < 0x20000; r++ {
			b, ok := encode(r)
			if !ok {
				continue
			}
			known++
			if label == "iso-2022-jp" {
				b = append([]byte("\x1b$B"), b[max(0, len(b)-2):]...)
				if isHalfKatakana(r) || r == '¥' || r == '‾' || r == 0x2212 {
					continue
				}
			}
			got, _ := e.toUTF8(b)
			if string(got) != string(r) && !(strings.ContainsRune("¥‾\u2212", r)) {
				t.Errorf("%s %U: %x, which is %+q", label, r, b, got)
			}
		}
		if least := map[string]int{"koi8-r": 128, "windows-1252": 128, "euc-kr": 8000, "big5": 13000}[label]; known < max(least, 128) {
			t.Errorf("%s: %d characters", label, known)
		}
	}
}
