package htmlpage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func content(t *testing.T, url, body string) uint64 {
	t.Helper()
	p, err := Scan([]byte(body), url, "text/html", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Content == 0 {
		t.Errorf("%s: no content", url)
	}
	return p.Content
}

// TestContent has pairs of pages, each with its path, and whether they have the same content.
func TestContent(t *testing.T) {
	const sorry = "<title>%s</title><h1>Sorry</h1><p>%s was not found, try these: <a href=/%[2]s/x>%[2]s</a> or <a href=/q>that</a>."
	for _, c := range []struct {
		name       string
		at1, page1 string
		at2, page2 string
		same       bool
	}{
		{"other text", "/a", "<p>one", "/b", "<p>two", false},
		{"order", "/a", "<p>one two", "/b", "<p>two one", false},
		{"one word twice", "/a", "<p>one one", "/b", "<p>one", false},
		{"letter case and space", "/a", "<p>One  TWO", "/b", "<p>one</p>two", true},
		{"joined words", "/a", "<p>onetwo", "/b", "<p>one two", false},
		{"markup in a word", "/a", "<p>on<b>e</b>", "/b", "<p>one", true},
		{"references", "/a", "<p>caf&eacute;", "/b", "<p>caf\u00e9", true},
		{"nothing", "/a", "", "/b", "<title>x</title><script>y</script>", true},
		{"nothing and something", "/a", "", "/b", "x", false},
		{"title", "/a", "<title>one</title>text", "/b", "<title>two</title>text", true},
		{"links", "/a", "text <a href=x>one</a> end", "/b", "text <a href=y>two <b>words</b></a> <a href=z>three</a> end", true},
		{"as many links", "/a", "<a href=x>one</a><p>text", "/b", "<a href=x>one</a><a href=y>two</a><p>text<a href=/>z</a>", true},
		{"text in a link", "/a", "<a href=x>one</a>", "/b", "one", false},
		{"anchor that is no link", "/a", "<a name=x>one</a>", "/b", "<a name=x>two</a>", false},
		{"text behind an anchor left open", "/a", "<a href=y>l</a><a name=x>one", "/b", "<a href=y>l</a><a name=x>two", false},
		{"text between links left open", "/a", "<a href=y>one<a href=y>two</a>text", "/b", "<a href=y>one<p>one<a href=y>two</a>text", true},
		{"numbers", "/a", "<p>page 1 of 20, 17:05", "/b", "<p>page 312 of 9, 04:00", true},
		{"ids", "/a", "<p>ray 7d2f9c8b1a2b3c4d", "/b", "<p>ray 0a1b2c3d4e5f6789", true},
		{"models", "/a", "<p>the X200", "/b", "<p>the X300", false},
		{"what was asked for", "/x/y", fmt.Sprintf(sorry, "x y", "/x/y"), "/old-offer.html?q=cats",
			fmt.Sprintf(sorry, "no", "/old-offer.html?q=cats"), true},
		{"escaped", "/caf%C3%A9%20noir", "<p>Caf\u00e9 noir is not here", "/b", "<p>b is not here", true},
		{"words as in the host", "/a", "<p>example", "/b", "<p>", false},
		{"hidden", "/a", "<p>one<template>x</template><noscript>y</noscript>", "/b", "<p>one<svg><text>z</text></svg>", true},
		{"long words", "/a", "<p>incomprehensibilities", "/b", "<p>incomprehensibility", false},
		{"long words of the URL", "/incomprehensibility", "<p>Incomprehensibility?", "/b", "<p>?", true},
	} {
		a := content(t, "https://example.org"+c.at1, c.page1)
		b := content(t, "https://example.org"+c.at2, c.page2)
		if a == b != c.same {
			t.Errorf("%s: same is %v", c.name, a == b)
		}
	}
}

// A word has the same hash at the end of the text, where fewer than eight bytes remain.
func TestContentOfWordsAtTheEnd(t *testing.T) {
	for n := range 40 {
		word := strings.Repeat("w", n+1)
		at := []string{"https://example.org/" + word, "https://example.org/x"}
		if content(t, at[0], "<p>text "+word) != content(t, at[1], "<p>text") {
			t.Errorf("%d letters at the end", n)
		}
		if content(t, at[0], "<p>text "+word+" and more words") != content(t, at[1], "<p>text and more words") {
			t.Errorf("%d letters inside", n)
		}
	}
}

func TestContentDiffers(t *testing.T) {
	seen := map[uint64]int{}
	for i := range 100_000 {
		text := fmt.Sprintf("<p>w%s and w%s", word(i%400), word(i/400))
		h := content(t, testURL, text)
		if j, ok := seen[h]; ok {
			t.Fatalf("%d and %d are the same", i, j)
		}
		seen[h] = i
	}
}

func word(i int) string {
	var b []byte
	for ; i > 0; i /= 20 {
		b = append(b, byte('a'+i%20))
	}
	return string(b)
}

// Eight bytes at a time and one by one find the same words, in any context.
func TestWordsOfAllKinds(t *testing.T) {
	slow := func(text []byte, known *wordSet, h uint64) uint64 {
		for i := 0; i < len(text); {
			if wordClass[text[i]] == 0 {
				i++
				continue
			}
			from := i
			for i < len(text) && wordClass[text[i]] != 0 {
				i++
			}
			if !isNumberOrCode(text[from:i]) {
				if w := hashWord(text, from, i); !known.has(w) {
					h = mixWord(h, w)
				}
			}
		}
		return h
	}
	var known wordSet
	known.addURL("https://example.org/a/bc?def=12")
	r := rand.New(rand.NewPCG(1, 1))
	for range 50_000 {
		text := make([]byte, r.IntN(200))
		for i := range text {
			switch r.IntN(4) {
			case 0:
				text[i] = byte(r.UintN(256))
			case 1:
				text[i] = " 0123456789 "[r.IntN(12)]
			default:
				text[i] = "abcdefABZz .-"[r.IntN(13)]
			}
		}
		if a, b := printWords(text, &known, 1), slow(text, &known, 1); a != b {
			t.Fatalf("%q: %x, one by one %x", text, a, b)
		}
	}
	for c := range 256 {
		digit, word := classify(uint64(c) * each)
		if word != 0 != (wordClass[c] != 0) || digit != 0 != (wordClass[c] == wordDigit) {
			t.Errorf("%#x: digit %x, word %x", c, digit, word)
		}
	}
}

// BenchmarkContent is the part of the fingerprint in BenchmarkScan.
func BenchmarkContent(b *testing.B) {
	s := new(scanner)
	s.reset(docsPage(), Options{}.withDefaults())
	s.run()
	b.SetBytes(int64(len(s.text.buf)))
	for b.Loop() {
		s.own.print(s.text.buf, testURL)
	}
}
