package htmlpage

import (
	"bytes"
	"strings"
	"testing"
)

func TestCharset(t *testing.T) {
	const meta = "<meta charset=iso-8859-2>"
	pad := strings.Repeat(" ", prescanLength)
	tests := []struct{ rule, contentType, body, charset, text string }{
		{"byte order mark", "text/html; charset=latin1", "\xef\xbb\xbf" + meta + "é", "utf-8", "é"},
		{"UTF-16 little endian", "", "\xff\xfea\x00\xe9\x00", "utf-16le", "aé"},
		{"UTF-16 big endian", "text/html", "\xfe\xff\x00a\x00\xe9", "utf-16be", "aé"},
		{"UTF-16 by header", "text/html; charset=utf-16be", "\x00a\x00\xe9", "utf-16be", "aé"},
		{"UTF-16 cut in the middle", "", "\xff\xfea\x00\xe9", "utf-16le", "a\ufffd"},
		{"header", "text/html;CHARSET = \"ISO-8859-2\" ; x=y", "\xb1" + "<meta charset=koi8-r>", "iso-8859-2", "ą"},
		{"header label", "text/html; charset=latin1", "\x80", "windows-1252", "€"},
		{"unknown header label", "text/html; charset=x", meta + "\xb1", "iso-8859-2", "ą"},
		{"header with an open quote", `text/html; charset="iso-8859-2`, "é", "utf-8", "é"},
		{"meta charset", "text/html", meta + "\xb1", "iso-8859-2", "ą"},
		{"meta content-type", "", `<meta content="text/html; charset=Shift_JIS" http-equiv=Content-Type>` + "\x83\x65", "shift_jis", "テ"},
		{"content without pragma", "", `<meta content="text/html; charset=iso-8859-2">é`, "utf-8", "é"},
		{"meta in a comment", "", "<!--" + meta + "-->é", "utf-8", "é"},
		{"unknown meta label", "", "<meta charset=x>" + meta + "\xb1", "iso-8859-2", "ą"},
		{"meta cannot mean UTF-16", "", "<meta charset=utf-16>é", "utf-8", "é"},
		{"meta too far down", "", pad + meta + "é", "utf-8", "é"},
		{"valid UTF-8", "", "é", "utf-8", "é"},
		{"ASCII", "", "e", "utf-8", "e"},
		{"UTF-8 cut in the middle", "", "aé\xe2\x82", "utf-8", "aé\ufffd"},
		{"neither declared nor UTF-8", "", "\xe9\x80", "windows-1252", "é€"},
		{"a single byte at the end", "", "caf\xe9", "windows-1252", "café"},
		{"invalid UTF-8", "text/html; charset=utf-8", "a\xe9b\xff", "utf-8", "a\ufffdb\ufffd"},
		{"ASCII in a single-byte encoding", "text/html; charset=koi8-r", "abc", "koi8-r", "abc"},
		{"multi-byte", "text/html; charset=gb2312", "\xc4\xe3", "gbk", "你"},
		{"stateful", "text/html; charset=iso-2022-jp", "\x1b$B$F\x1b(B", "iso-2022-jp", "て"},
		{"empty", "", "", "utf-8", ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			p, err := Scan([]byte(tt.body), testURL, tt.contentType, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if p.Charset != tt.charset || p.Text != tt.text {
				t.Errorf("got %s %q, want %s %q", p.Charset, p.Text, tt.charset, tt.text)
			}
		})
	}
}

func TestUTF8IsNotCopied(t *testing.T) {
	body := []byte("\xef\xbb\xbfé")
	got, _, err := decode(body, "")
	if err != nil || !bytes.Equal(got, body[3:]) || &got[0] != &body[3] {
		t.Errorf("got %q, %v", got, err)
	}
}
