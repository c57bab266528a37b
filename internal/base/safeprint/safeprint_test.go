package safeprint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTextShowsWhatATerminalWouldObey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "",
		"plain é 漢字 👍 a\u00a0b":      "plain é 漢字 👍 a\u00a0b",
		"\x1b[31mred\x1b]0;title\a":  `\x1b[31mred\x1b]0;title\a`,
		"a\nb\tc\rd\bf\vg\x00\x7f":   `a\nb\tc\rd\bf\vg\x00\x7f`,
		"\u009b31m":                  `\u009b31m`,
		"\x9b31m \xff":               `\x9b31m \xff`,
		"\u202egnp.exe\u2066x\u200f": `\u202egnp.exe\u2066x\u200f`,
		"a\u200bb\ufeffc\u00add":     `a\u200bb\ufeffc\u00add`,
		"a\u2028b\u2029c\u3164d":     `a\u2028b\u2029c\u3164d`,
		"tag \U000e0041, \ue000":     `tag \U000e0041, \ue000`,
		"\ufffd stays":               "\ufffd stays",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := Lines("a\n\tb\x1b\r\n"); got != "a\n\tb\\x1b\\r\n" {
		t.Errorf("lines: %q", got)
	}
}

type name string

func TestArgumentsAreCleanedWhateverTheyAre(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	const bad = "\x1b[2J\n"
	Fprintf(&b, "%s %v %q %s %v %v %x|%5d|%s|%v|", bad, name(bad), "a\"", []byte(bad), []string{bad}, map[string]string{bad: bad}, 255, 7, time.Second, nil)
	Fprintln(&b, errors.Join(errors.New("one"), fmt.Errorf("two: %w", errors.New(bad))), Trusted("\x1b[1m"))
	Fprint(&b, struct{ A string }{bad})
	const esc = `\x1b[2J\n`
	want := esc + " " + esc + ` "a\"" ` + esc + " [" + esc + "] map[" + esc + ":" + esc + "] ff|    7|1s|<nil>|one\n  two: \\x1b[2J \x1b[1m\n{" + esc + "}"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}

// On a terminal, data is escaped so that it has the same meaning as JSON.
func TestDataIsEscapedOnATerminalAlone(t *testing.T) {
	t.Parallel()
	const text = "{\"a\":\"\u009bé\u202e\x7f\U000e0041\x9b\"}\n"
	for terminal, want := range map[bool]string{false: text, true: "{\"a\":\"\\u009bé\\u202e\\u007f\\udb40\\udc41\\ufffd\"}\n"} {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		w := Data(f, terminal)
		for i := range len(text) { // in parts of runes
			if n, err := w.Write([]byte{text[i]}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Name()); err != nil || string(got) != want {
			t.Errorf("on a terminal %v: %q, %v; want %q", terminal, got, err, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b\u009b\x9b\u202e\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		for _, r := range got {
			if !Plain(r) {
				t.Errorf("%q becomes %q", s, got)
			}
		}
		if Text(got) != got {
			t.Errorf("%q is changed again", got)
		}
	})
}
