package extract

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// longPatterns are expressions that look behind and ahead, match nothing, have groups, and end in
// unusual ways.
var longPatterns = []string{
	`a`, `(a)|(b)`, `a*`, ``, `\b`, `\bb\w*`, `^a`, `(?m)^.`, `(?m)^`, `.$`, `(?m).$`, `(?i)A|É`, `é?`, `(?s)a.*?b`, `\Ba`, `\z`,
	`a(?:.*z)?`, `(?P<n>\d)(x)?`, `\Qa`, `\Qa\E|b`, `[^a]`, `\n`,
}

// free never limits the work.
func free(int) error { return nil }

const longSample = "ab é1x2 aab\nz b\xffa\n\nbaab. "

// Matches found one by one are those found at once.
func TestPatternInLongText(t *testing.T) {
	text := strings.Repeat(longSample, longText/len(longSample)+1)
	for _, expr := range longPatterns {
		p, err := compilePattern(expr)
		if err != nil {
			t.Fatal(err)
		}
		re := regexp.MustCompile(expr)
		var got [][]int
		for m, err := range p.all(text, free) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m)
		}
		if want := re.FindAllStringSubmatchIndex(text, -1); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d matches, want %d", expr, len(got), len(want))
		}
		const with = "<$1$n>"
		got1, err := p.replaceAll(text, with, free)
		if want := re.ReplaceAllString(text, with); got1 != want || err != nil {
			t.Errorf("%s: replaced to %d bytes, want %d: %v", expr, len(got1), len(want), err)
		}
	}
}

// A search to the end of a page after each match counts everything it reads, so that it ends by
// that and not by time. If one match is enough, there is one search.
func TestPatternOfQuadraticTime(t *testing.T) {
	if withRace {
		t.Skip("runs without the race detector")
	}
	t.Parallel()
	const length, searches = 1 << 20, 4
	text := strings.Repeat("a", length)
	p, err := compilePattern("a(?:.*z)?")
	if err != nil {
		t.Fatal(err)
	}
	limited := func() func(int) error {
		left := searches * length
		return func(n int) error {
			if left -= n; left < 0 {
				return errBound
			}
			return nil
		}
	}
	matches := 0
	for _, err = range p.all(text, limited()) {
		matches++
	}
	if !errors.Is(err, errBound) || matches > searches+1 {
		t.Errorf("%d matches, %v", matches, err)
	}
	if _, err := p.replaceAll(text, "b", limited()); !errors.Is(err, errBound) {
		t.Errorf("replaced: %v", err)
	}
	rules := mustCompile(t, `records: [{kind: a, when: {regex: 'a(?:.*z)?'}, fields: {t: {css: p, regex: 'a(?:.*z)?'}}}]`)
	if result := mustApply(t, rules, page(htmlType, "<p>"+text)); len(result.Records) != 1 || string(result.Records[0].Fields(nil)) != `{"t":"a"}` {
		t.Errorf("got %+v", result)
	}
}
