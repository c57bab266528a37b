package charset

import (
	"strings"
	"testing"
)

// URL standard section 1.3, "percent-encode after encoding".
func TestQuery(t *testing.T) {
	tests := []struct{ label, query, want string }{
		{"utf-8", "a=é&b=c d", "a=%C3%A9&b=c%20d"},
		{"utf-16", "é", "%C3%A9"},
		{"replacement", "é", "%C3%A9"},
		{"windows-1252", "é€\u0081", "%E9%80%81"},
		{"windows-1252", "ż=\U0001f600", "%26%23380%3B=%26%23128512%3B"},
		{"windows-1252", "%e9%zz", "%e9%zz"},
		{"windows-1252", `"#<>'` + "\x7f`{}|^~\\[]", "%22%23%3C%3E%27%7F`{}|^~\\[]"},
		{"windows-1252", "a\tb\nc\x01", "a\tb\nc%01"},
		{"windows-1252", "\ufffd\xff", "%26%2365533%3B%26%2365533%3B"},
		{"koi8-r", "ж", "%D6"},
		{"x-user-defined", "\uf780é", "%80%26%23233%3B"},
		{"shift_jis", "テｱ\ue000", "%83e%B1%26%2357344%3B"},
		{"euc-jp", "テ丂ｱ", "%A5%C6%8F%B0%A1%8E%B1"},
		{"euc-kr", "가é", "%B0%A1%26%23233%3B"},
		{"big5", "一═\U0001f600", "%A4@%F9%F9%26%23128512%3B"},
		{"gbk", "你€\U00010000", "%C4%E3%80%26%2365536%3B"},
		{"gb18030", "你€\U00010000", "%C4%E3%A2%E3%900%810"},
		{"iso-2022-jp", "aテb", "a%1B$B%F%1B(Bb"},
		{"iso-2022-jp", "αω", "%1B$B&A&X%1B(B"}, // bytes of "&"
		{"iso-2022-jp", "ァ\ufffdァ", "%1B$B%!%1B(B%26%2365533%3B%1B$B%!%1B(B"},
		{"iso-2022-jp", "テéテ", "%1B$B%F%1B(B%26%23233%3B%1B$B%F%1B(B"},
	}
	for _, tt := range tests {
		e := labelled([]byte(tt.label))
		if e == (Encoding{}) {
			t.Fatalf("no encoding %q", tt.label)
		}
		if got := e.Query(tt.query); got != tt.want {
			t.Errorf("%s %q:\n got %s\nwant %s", tt.label, tt.query, got, tt.want)
		}
	}
}

func TestReference(t *testing.T) {
	tests := []struct{ ref, want string }{
		{"/é?é#é", "/é?%E9#é"},
		{"?a=b", "?a=b"},
		{"é", "é"},
		{"é?", "é?"},
		{"#é?é", "#é?é"},
		{"https://example.org/?ż?é", "https://example.org/?%26%23380%3B?%E9"},
	}
	for _, tt := range tests {
		if got := Windows1252.Reference(tt.ref); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.ref, got, tt.want)
		}
		if got := UTF8.Reference(tt.ref); got != tt.ref {
			t.Errorf("%q in UTF-8: got %q", tt.ref, got)
		}
	}
}

// FuzzQuery: the result is valid in a URL, and a second call does not change it.
func FuzzQuery(f *testing.F) {
	for _, label := range []string{"utf-8", "gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr", "iso-2022-jp", "utf-16", "latin1", "x-user-defined", "koi8-u"} {
		f.Add("a=é&テ\u2212¥ \"\x1b\xff你%e9", label)
	}
	f.Fuzz(func(t *testing.T, q, label string) {
		e := labelled([]byte(label))
		got := e.Query(q)
		if i := strings.IndexFunc(got, func(r rune) bool { return r > '~' || inQuerySet(byte(r)) }); i >= 0 {
			t.Errorf("%s %q: %q", e, q, got)
		}
		if again := e.Query(got); again != got {
			t.Errorf("%s %q: %q, then %q", e, q, got, again)
		}
	})
}
