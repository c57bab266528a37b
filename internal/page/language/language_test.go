package language

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// No sample may be detected as another language, and only few, below a dozen words, may have no
// result.
func TestDetect(t *testing.T) {
	right, unsure := 0, 0
	for _, s := range samples {
		switch got := Detect(s.text); {
		case got == s.lang:
			right++
		case got == "" && s.lang != "":
			unsure++
			t.Logf("unsure of %s: %.60s", s.lang, s.text)
		default:
			t.Errorf("%.60s: %q, want %q", s.text, got, s.lang)
		}
	}
	t.Logf("%d right, %d unsure of %d", right, unsure, len(samples))
	if unsure > len(samples)/20 {
		t.Errorf("unsure of %d of %d", unsure, len(samples))
	}
}

// A page has words of other languages, too; the language of most of it counts.
func TestMixed(t *testing.T) {
	const german = "Das Museum ist täglich außer montags geöffnet, und Karten gibt es an der Kasse oder auf unserer Website. "
	const english = "Privacy policy and terms of use. "
	if got := Detect(english + strings.Repeat(german, 4)); got != "de" {
		t.Errorf("%q, want de", got)
	}
	if got := Detect(german + "The museum is open every day except Monday, and tickets are sold at the entrance or on our website."); got != "" {
		t.Errorf("half and half: %q", got)
	}
}

// A long text is read in parts, so that a menu at its beginning does not determine the result.
func TestLongText(t *testing.T) {
	menu := strings.Repeat("Login Home ", 200)
	text := menu + strings.Repeat("Музей открыт ежедневно, кроме понедельника, и билеты можно купить у входа или на нашем сайте. ", 500)
	if got := Detect(text); got != "ru" {
		t.Errorf("%q, want ru", got)
	}
	for _, part := range sample(text) {
		if !utf8.ValidString(part) || len(part) > partSize+utf8.UTFMax {
			t.Errorf("a part of %d bytes, valid %v", len(part), utf8.ValidString(part))
		}
	}
}

// The lists have the form of the lookup: in lower case, each tag once, letters beyond ASCII.
func TestLists(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range lists {
		if seen[l.tag] || len(l.tag) != 2 {
			t.Errorf("tag %q", l.tag)
		}
		seen[l.tag] = true
		if l.words != strings.ToLower(l.words) || len(strings.Fields(l.words)) < 30 {
			t.Errorf("%s: %d words", l.tag, len(strings.Fields(l.words)))
		}
		for _, r := range l.letters {
			if r < utf8.RuneSelf {
				t.Errorf("%s: letter %q", l.tag, r)
			}
		}
	}
	for i := 1; i < len(blocks); i++ {
		if blocks[i].first <= blocks[i-1].first {
			t.Errorf("block %#x is out of order", blocks[i].first)
		}
	}
}

// FuzzDetect: any text has one result, which is a known language.
func FuzzDetect(f *testing.F) {
	known := map[string]bool{"": true, "ja": true, "zh": true}
	for _, b := range blocks {
		tag := b.script
		if !isAlone(tag) {
			continue
		}
		known[tag] = true
	}
	for _, l := range lists {
		known[l.tag] = true
	}
	for _, s := range samples {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Detect(s); !known[got] || got != Detect(s) {
			t.Errorf("%q", got)
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	for name, s := range map[string]string{"Sentence": samples[0].text, "Page": strings.Repeat(samples[2].text+" ", 1000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Detect(s)
			}
		})
	}
}
