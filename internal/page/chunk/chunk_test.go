package chunk_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"seine/internal/page/chunk"
)

func texts(chunks []chunk.Chunk) (all []string) {
	for _, c := range chunks {
		all = append(all, c.Text)
	}
	return all
}

func TestSplit(t *testing.T) {
	const long = "One two three four. Five six seven eight. Nine ten eleven twelve. And so on on."
	for _, c := range []struct {
		name, markdown string
		size, overlap  int
		want           []string
	}{
		{"nothing", "", 20, 0, nil},
		{"white space", " \n\n \n", 20, 0, nil},
		{"all fits", "# A\n\nb\n\n## C\n\nd\n", 20, 0, []string{"# A\n\nb\n\n## C\n\nd"}},
		{"sections that do not fit together", "# A\n\nb b b\n\n## C\n\nd d d\n", 6, 0, []string{"# A\n\nb b b", "## C\n\nd d d"}},
		{"subsections that fit", "# A\n\nb b b\n\n## C\n\nd\n\n### E\n\nf\n", 7, 0, []string{"# A\n\nb b b", "## C\n\nd\n\n### E\n\nf"}},
		{"a heading without text is in the breadcrumb", "# A\n\n## B\n\nb b b b\n\n## C\n\nc c c c\n", 6, 0, []string{"## B\n\nb b b b", "## C\n\nc c c c"}},
		{"the last heading has no text", "# A\n\n" + long + "\n\n## B\n", 18, 0, []string{"# A\n\n" + long, "## B"}},
		{"sentences", long, 8, 0, []string{"One two three four. Five six seven eight.", "Nine ten eleven twelve. And so on on."}},
		{"words", "a b c d e f g h", 4, 0, []string{"a b c d", "e f g h"}},
		{"Chinese", "一二三四五六。七八九十。", 8, 0, []string{"一二三四五六。", "七八九十。"}},
		{"code", "```go\na b\nc d\ne f\n```\n", 7, 0, []string{"```go\na b\nc d\n```", "```go\ne f\n```"}},
		{"blank lines of code", "```\na b c\n\n# d e\n```\n\nf g h i j", 8, 0, []string{"```\na b c\n\n# d e\n```", "f g h i j"}},
		{"a table", "| a |\n| --- |\n| b c |\n| d e |\n", 12, 0, []string{"| a |\n| --- |\n| b c |", "| a |\n| --- |\n| d e |"}},
		{"items of a list", "- a b c\n- d e f\n  - g\n- h i j\n", 7, 0, []string{"- a b c", "- d e f\n  - g", "- h i j"}},
		{"overlap", "a b c. d e f. g h i. j k l.", 9, 3, []string{"a b c. d e f.", "d e f. g h i. j k l."}},
		{"no overlap between sections", "# A\n\na b c d e f\n\n# B\n\ng h i j k l\n", 10, 3, []string{"# A\n\na b c d e f", "# B\n\ng h i j k l"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := texts(chunk.Options{Size: c.size, Overlap: c.overlap, Count: chunk.Words}.Split(chunk.PartsOf(c.markdown)))
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestBreadcrumbs(t *testing.T) {
	parts := chunk.PartsOf("x x\n\n# A\n\na a\n\n### B ##\n\nb b\n\n## C\n\n```\n# no\n```\n\n# D\n\nd d\n")
	var got []string
	for _, c := range (chunk.Options{Size: 5, Count: chunk.Words}).Split(parts) {
		got = append(got, c.Breadcrumb)
	}
	if want := []string{"", "A", "A > B", "A > C", "D"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

var counts = map[string]func(string) int{"characters": utf8.RuneCountInString, "words": chunk.Words, "tokens": chunk.Tokens}

// markdown generates a document in which each word occurs once.
func markdown(t *rapid.T) string {
	n := 0
	word := func() string {
		n++
		return rapid.SampledFrom([]string{"w%d", "a-rather-long-word-%d", "ż%dółw", "%d.", "%d!", "**%d**", "漢字%d"}).Draw(t, "word")
	}
	line := func(most int) string {
		var all []string
		for range rapid.IntRange(1, most).Draw(t, "words") {
			all = append(all, fmt.Sprintf(word(), n))
		}
		return strings.Join(all, " ")
	}
	var b strings.Builder
	for range rapid.IntRange(0, 12).Draw(t, "blocks") {
		switch rapid.IntRange(0, 5).Draw(t, "block") {
		case 0:
			fmt.Fprintf(&b, "%s %s\n\n", strings.Repeat("#", rapid.IntRange(1, 4).Draw(t, "level")), line(1))
		case 1:
			fmt.Fprintf(&b, "```sh\n%s\n\n%s\n```\n\n", line(20), line(20))
		case 2:
			for range rapid.IntRange(1, 8).Draw(t, "items") {
				fmt.Fprintf(&b, "- %s\n", line(20))
			}
			b.WriteString("\n")
		default:
			fmt.Fprintf(&b, "%s\n\n", line(80))
		}
	}
	return b.String()
}

var notWord = regexp.MustCompile("[\\s`#]+")

// wordsOf returns a text without white space, headings and code fences.
func wordsOf(text string) string {
	text = regexp.MustCompile("(?m)^```(sh)?$|^#+ .*$").ReplaceAllString(text, "")
	return notWord.ReplaceAllString(text, "")
}

func options(t *rapid.T) chunk.Options {
	unit := rapid.SampledFrom([]string{"characters", "words", "tokens"}).Draw(t, "unit")
	return chunk.Options{Size: rapid.IntRange(40, 200).Draw(t, "size"), Count: counts[unit]}
}

func TestNothingIsLostOrDoubled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := markdown(t)
		all := options(t).Split(chunk.PartsOf(text))
		got := ""
		for _, c := range all {
			got += "\n" + c.Text
		}
		if wordsOf(got) != wordsOf(text) {
			t.Fatalf("got  %q\nwant %q", wordsOf(got), wordsOf(text))
		}
		for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(all, func(c chunk.Chunk) bool { return strings.Contains(c.Text+c.Breadcrumb, h[1]) }) {
				t.Fatalf("heading %q is in no chunk", h[1])
			}
		}
	})
}

func TestSizeIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := options(t)
		o.Overlap = rapid.IntRange(0, o.Size/2).Draw(t, "overlap")
		for _, c := range o.Split(chunk.PartsOf(markdown(t))) {
			if n := o.Count(c.Text); n > o.Size || n != c.Size {
				t.Fatalf("%q has %d, and is said to have %d, at most %d are allowed", c.Text, n, c.Size, o.Size)
			}
		}
	})
}

// A page without headings is the worst case: only the text determines where chunks begin.
func TestAnInsertedParagraphChangesFewChunks(t *testing.T) {
	var paragraphs []string
	for i := range 100 {
		paragraphs = append(paragraphs, strings.Repeat(fmt.Sprintf("paragraph %d. ", i), 1+i*7%13))
	}
	o := chunk.Options{Size: 100, Count: chunk.Words}
	split := func(all []string) []string { return texts(o.Split(chunk.PartsOf(strings.Join(all, "\n\n")))) }
	was, changed := split(paragraphs), 0
	for i := range paragraphs {
		for _, c := range split(slices.Insert(slices.Clone(paragraphs), i, "A new paragraph of eight words is here.")) {
			if !slices.Contains(was, c) {
				changed++
			}
		}
	}
	if mean := float64(changed) / 100; mean > 2.5 {
		t.Errorf("of %d chunks, an inserted paragraph changes %.1f", len(was), mean)
	}
}

func BenchmarkSplit(b *testing.B) {
	parts := chunk.PartsOf(strings.Repeat("# One\n\n"+strings.Repeat("The quick brown fox jumps over the lazy dog. ", 40)+"\n\n", 20))
	for name, count := range counts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(20 * 1800)
			for b.Loop() {
				chunk.Options{Size: 300, Count: count}.Split(parts)
			}
		})
	}
}
