package simhash

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const (
	english  = "The crawler reads a page once, takes its links and its text, and sends both on to whoever wants them; nothing is kept."
	japanese = "クローラーはページを一度だけ読み、リンクと本文を取り出して、必要とする相手に送ります。何も残しません。"
	thai     = "โปรแกรมอ่านหน้าเว็บเพียงครั้งเดียวแล้วส่งลิงก์และข้อความต่อไปโดยไม่เก็บอะไรไว้"
	russian  = "Программа читает страницу один раз, берёт из неё ссылки и текст, передаёт их дальше тому, кто их ждёт, и ничего не хранит у себя."
	hindi    = "प्रोग्राम हर पृष्ठ को एक बार पढ़ता है, उसके लिंक और पाठ लेता है, और दोनों को आगे भेज देता है; कुछ भी अपने पास नहीं रखता।"
)

// Hashes are stored: a text has the same hash in every version.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
	}{
		{english, 0xabe7e213f193a3cd}, {japanese, 0xa3d52fa4f0d0928d}, {thai, 0xe16168d00c72314e},
		{russian, 0x0340424621a4b450}, {hindi, 0x3cf3b4d042dda415}, {strings.Repeat("a b c d ", 1000), 0x2a9542204206e007},
	} {
		if got := Of(c.text); got != c.want {
			t.Errorf("%.20s: %#016x, want %#016x", c.text, got, c.want)
		}
	}
}

// Differences that do not count: case, punctuation, spaces, and how a text is split.
func TestSame(t *testing.T) {
	want := Of(english)
	for _, text := range []string{
		strings.ToUpper(english), strings.ReplaceAll(english, " ", "\n\t "), "— " + strings.ReplaceAll(english, ",", " –") + "!",
		strings.ReplaceAll(english, "crawler", "craw\u00adler"),
	} {
		if got := Of(text); got != want {
			t.Errorf("%q: %x, want %x", text, got, want)
		}
	}
	for _, text := range []string{english, japanese, russian, hindi} {
		var h Hash
		for _, r := range text {
			h.WriteString(string(r))
		}
		if h.Sum() != Of(text) {
			t.Errorf("%.20s: differs in parts", text)
		}
	}
	if got := Of(strings.ReplaceAll(japanese, "、", " ")); got != Of(japanese) {
		t.Error("a comma counts in Japanese")
	}
}

func TestTooShort(t *testing.T) {
	words := strings.Fields(strings.Repeat("one two three four ", 10))
	for n := range 30 {
		if got := Of(strings.Join(words[:n], " ")); (got == 0) != (n < MinWords) {
			t.Errorf("%d words: %x", n, got)
		}
	}
	if got := Of(strings.Repeat("字", MinWords-1)); got != 0 {
		t.Errorf("%x of too few letters", got)
	}
	if got := Of(strings.Repeat("字", MinWords)); got == 0 {
		t.Error("0 of enough letters")
	}
}

// text makes n words of a vocabulary like that of a language: few words make up most of it.
func text(rng *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		f := rng.Float64()
		words[i] = fmt.Sprintf("w%d", int(f*f*f*5000))
	}
	return words
}

// Near duplicates have a small distance, and different texts a large one.
func TestDistances(t *testing.T) {
	const texts, length = 400, 800
	rng := rand.New(rand.NewPCG(1, 2))
	near, far, sum := 0, 0, 0
	var before uint64
	for i := range texts {
		words := text(rng, length)
		a := Of(strings.Join(words, " "))
		words[rng.IntN(length)] = "changed"
		if distance(a, Of(strings.Join(words, " "))) <= 3 {
			near++
		}
		if i > 0 {
			d := distance(a, before)
			sum += d
			if d > 10 {
				far++
			}
		}
		before = a
	}
	t.Logf("one word of %d changed: %d of %d within 3 bits; strangers: %.1f bits", length, near, texts, float64(sum)/(texts-1))
	if near < texts*88/100 {
		t.Errorf("only %d of %d near duplicates are within 3 bits", near, texts)
	}
	if far < texts-1 || sum/(texts-1) < 26 {
		t.Errorf("%d of %d strangers are more than 10 bits apart, mean %d", far, texts-1, sum/(texts-1))
	}
}

// The distance grows as two texts share less.
func TestDistanceGrows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var means []int
	for _, changed := range []int{0, 4, 40, 400} {
		total := 0
		for range 50 {
			words := text(rng, 800)
			other := slices.Clone(words)
			copy(other[200:], text(rng, changed))
			total += distance(Of(strings.Join(words, " ")), Of(strings.Join(other, " ")))
		}
		means = append(means, total)
	}
	if means[0] != 0 || !slices.IsSorted(means) || means[1] == means[3] {
		t.Errorf("distances %v of ever more changed", means)
	}
}

// FuzzOf: any bytes have a hash, the same in one part and in two.
func FuzzOf(f *testing.F) {
	for _, s := range []string{english, japanese, thai, russian, hindi, "", "\xff\xfe", "e\u0301 \u0301"} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		s = strings.ToValidUTF8(s, "")
		runes := []rune(s)
		if cut < 0 || cut > len(runes) {
			cut = len(runes) / 2
		}
		var h Hash
		h.WriteString(string(runes[:cut]))
		h.WriteString(string(runes[cut:]))
		if got, want := h.Sum(), Of(s); got != want {
			t.Errorf("%x in two parts, %x in one", got, want)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	for name, s := range map[string]string{"English": english, "Japanese": japanese, "Russian": russian} {
		b.Run(name, func(b *testing.B) {
			s := strings.Repeat(s+" ", 100)
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Of(s)
			}
		})
	}
}

// distance is the number of bits in which two hashes differ, from 0 to 64. It is meaningless if one
// of them is 0.
func distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }
