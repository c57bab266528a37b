package article

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// writer generates random pages in which each word occurs once.
type writer struct {
	*rand.Rand
	words int
}

func (w *writer) word() string {
	w.words++
	return fmt.Sprintf("w%dx", w.words)
}

// inline returns some words, some of them in inline elements.
func (w *writer) inline() string {
	var b strings.Builder
	for range 1 + w.IntN(4) {
		form := []string{"%s", "<b>%s</b>", "<i>%s</i>", "<code>%s</code>", "<a href=/x>%s</a>", "<del>%s</del>", "x<sup>%s</sup>", "<b><i>%s</i></b>", "<span>%s</span>",
			"<math><mi>%s</mi></math>", "<script type='math/tex'>%s</script>"}[w.IntN(11)]
		b.WriteString(" " + strings.Replace(form, "%s", w.word(), 1))
	}
	return b.String()
}

// blocks returns some blocks, nested at most depth deep.
func (w *writer) blocks(depth int) string {
	var b strings.Builder
	for range 1 + w.IntN(3) {
		b.WriteString(w.block(depth))
	}
	return b.String()
}

func (w *writer) block(depth int) string {
	n := 11
	if depth == 0 {
		n = 4
	}
	switch w.IntN(n) {
	case 0, 1:
		return "<p>" + w.inline() + "</p>"
	case 2:
		return "<h3>" + w.inline() + "</h3>"
	case 3:
		return "<pre><code class=language-go>" + w.word() + "\n  " + w.word() + "</code></pre>"
	case 4:
		return "<blockquote>" + w.blocks(depth-1) + "</blockquote>"
	case 5, 6:
		tag := []string{"ul", "ol"}[w.IntN(2)]
		return "<" + tag + "><li>" + w.inline() + w.blocks(depth-1) + "<li>" + w.blocks(depth-1) + "<li>" + w.inline() + "</" + tag + ">"
	case 7:
		return "<dl><dt>" + w.inline() + "<dd>" + w.inline() + "<dd>" + w.blocks(depth-1) + "</dl>"
	case 8:
		return "<div class='admonition note'><p class=admonition-title>" + w.word() + "</p>" + w.blocks(depth-1) + "</div>"
	case 9:
		return "<figure><img src=a.png>" + "<figcaption>" + w.inline() + "</figcaption></figure>"
	default:
		return w.table()
	}
}

// table returns a table with a caption, headings, and spanning cells.
func (w *writer) table() string {
	var b strings.Builder
	b.WriteString("<table><caption>" + w.inline() + "</caption><tr><th>" + w.inline() + "<th colspan=2>" + w.inline())
	for range 1 + w.IntN(3) {
		b.WriteString("<tr><th>" + w.inline())
		fmt.Fprintf(&b, "<td rowspan=%d>%s<td>%s", 1+w.IntN(3), w.inline(), w.inline())
	}
	return b.String() + "</table>"
}

// Another parser of the Markdown of any page returns each word once.
func TestNoWordIsLostOrDoubled(t *testing.T) {
	for seed := range uint64(2000) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 1))}
		page := w.blocks(3)
		md := Markdown(body(t, page), pageURL)
		want := strings.Fields(strings.NewReplacer("$", " ", "\\", " ").Replace(Text(body(t, page))))
		got := strings.Fields(strings.NewReplacer("$", " ", "\\", " ").Replace(Text(render(t, md))))
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %s\nMarkdown: %s\n got %q\nwant %q", seed, page, md, got, want)
		}
	}
}
