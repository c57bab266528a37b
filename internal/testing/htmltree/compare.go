package htmltree

import (
	"fmt"
	"strings"

	"seine/internal/page/htmlpage"
)

// Counts says how much was compared.
type Counts struct{ Pages, Links, TextBytes int }

// Compare reads a page with both parsers and describes their differences. It adds to counts.
func Compare(body []byte, pageURL, contentType string, counts *Counts) ([]string, error) {
	fast, err := htmlpage.Scan(body, pageURL, contentType, htmlpage.Options{MaxText: 1 << 30, MaxLinks: 1 << 24})
	if err != nil {
		return nil, err
	}
	slow, err := Read(body, pageURL, contentType)
	if err != nil {
		return nil, err
	}
	counts.Pages++
	counts.Links += len(slow.Links)
	counts.TextBytes += len(slow.Text)
	diffs := compareLinks(fast.Links, slow.Links)
	if d := compareText(fold(fast.Text), slow.Text); d != "" {
		diffs = append(diffs, d)
	}
	return diffs, nil
}

func compareLinks(fast, slow []htmlpage.Link) (diffs []string) {
	for i := range max(len(fast), len(slow)) {
		a, b := describe(fast, i), describe(slow, i)
		if a != b {
			return append(diffs, fmt.Sprintf("link %d is %s, in the tree %s", i, a, b))
		}
	}
	return diffs
}

func describe(links []htmlpage.Link, i int) string {
	if i >= len(links) {
		return "missing"
	}
	l := links[i]
	mark := ""
	if l.NoFollow {
		mark = " nofollow"
	}
	return l.Kind.String() + mark + " " + l.URL
}

func fold(s string) string { return strings.Join(strings.FieldsFunc(s, isSpace), " ") }

// compareText describes the place where two texts differ first.
func compareText(fast, slow string) string {
	if fast == slow {
		return ""
	}
	i := 0
	for i < min(len(fast), len(slow)) && fast[i] == slow[i] {
		i++
	}
	return fmt.Sprintf("text parts at byte %d: …%q, in the tree …%q", i, around(fast, i), around(slow, i))
}

func around(s string, i int) string { return s[max(0, i-20):min(len(s), i+40)] }
