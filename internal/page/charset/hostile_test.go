package charset

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// The size of a document bounds the allocated memory, whatever its content, including what is freed
// as a buffer grows.
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

// The query of a link is allocated once, for the largest result of its characters, and not per
// character.
func TestQueryMemory(t *testing.T) {
	for _, label := range []string{"windows-1252", "gb18030", "big5", "iso-2022-jp"} {
		e := labelled([]byte(label))
		for _, r := range []string{"é", "你", "\U00010000", "テ¥"} {
			q := strings.Repeat(r, 1000)
			e.Query(q)
			if n := testing.AllocsPerRun(10, func() { e.Query(q) }); n > 50 {
				t.Errorf("%s %q: %.0f allocations", label, r, n)
			}
		}
	}
}
