// Package groundtruth compares the main content extracted from a page with content that a person
// marked. It reads a folder of pairs: NAME.html, a page, and NAME.truth, the text to keep. A line
// "== either ==" may follow in the latter, and after it optional text, such as a byline or the
// caption of a photograph.
//
// It is for tests and benchmarks.
package groundtruth

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// Page is a page with its marked content.
type Page struct {
	Name   string
	HTML   string
	Keep   string // "" if the page has no main content
	Either string
}

const either = "== either =="

// Load reads the pages of a folder in order of their names.
func Load(dir string) ([]Page, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no pages in %s: %w", dir, os.ErrNotExist)
	}
	pages := make([]Page, 0, len(files))
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		marked, err := os.ReadFile(strings.TrimSuffix(f, ".html") + ".truth")
		if err != nil {
			return nil, err
		}
		keep, rest, _ := strings.Cut(string(marked), either)
		pages = append(pages, Page{
			Name: strings.TrimSuffix(filepath.Base(f), ".html"), HTML: string(body),
			Keep: strings.TrimSpace(keep), Either: strings.TrimSpace(rest),
		})
	}
	return pages, nil
}

// Score counts words: extracted correctly, extracted wrongly, and missed.
type Score struct{ Right, Wrong, Missed int }

// Precision is the share of extracted words that are right; 1 if nothing was extracted.
func (s Score) Precision() float64 { return share(s.Right, s.Wrong) }

// Recall is the share of wanted words that were extracted; 1 if there are none.
func (s Score) Recall() float64 { return share(s.Right, s.Missed) }

// F1 is the harmonic mean of precision and recall.
func (s Score) F1() float64 {
	p, r := s.Precision(), s.Recall()
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

func share(right, not int) float64 {
	if right+not == 0 {
		return 1
	}
	return float64(right) / float64(right+not)
}

// Score compares a text with the marked content as bags of words. Optional words do not count.
func (p Page) Score(text string) Score {
	var s Score
	want, open := count(p.Keep), count(p.Either)
	got := count(text)
	for w, n := range got {
		right := min(n, want[w])
		s.Right += right
		s.Wrong += max(0, n-right-open[w])
	}
	for w, n := range want {
		s.Missed += max(0, n-got[w])
	}
	return s
}

// Add returns the sum of two scores.
func (s Score) Add(o Score) Score {
	return Score{s.Right + o.Right, s.Wrong + o.Wrong, s.Missed + o.Missed}
}

// Differences lists the surplus and the missing words, for people.
func (p Page) Differences(text string) (wrong, missed []string) {
	want, open := count(p.Keep), count(p.Either)
	got := count(text)
	for _, w := range words(text) {
		if got[w] > want[w]+open[w] {
			got[w]--
			wrong = append(wrong, w)
		}
	}
	got = count(text)
	for _, w := range words(p.Keep) {
		if want[w] > got[w] {
			want[w]--
			missed = append(missed, w)
		}
	}
	return wrong, missed
}

func count(text string) map[string]int {
	m := map[string]int{}
	for _, w := range words(text) {
		m[w]++
	}
	return m
}

// words cuts a text into runs of letters and digits, in lower case. In scripts without spaces each
// character is a word.
func words(text string) []string {
	var list []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			list = append(list, string(word))
			word = word[:0]
		}
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			flush()
			list = append(list, string(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mn, r):
			word = append(word, unicode.ToLower(r))
		default:
			flush()
		}
	}
	flush()
	return list
}
