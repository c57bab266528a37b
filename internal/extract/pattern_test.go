package extract

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// longPatterns are expressions that look behind and ahead, match nothing, have
// groups, and end in odd ways.
var longPatterns = []string{
	`a`, `(a)|(b)`, `a*`, ``, `\b`, `\bb\w*`, `^a`, `(?m)^.`, `(?m)^`, `.$`, `(?m).$`, `(?i)A|É`, `é?`, `(?s)a.*?b`, `\Ba`, `\z`,
	`a(?:.*z)?`, `(?P<n>\d)(x)?`, `\Qa`, `\Qa\E|b`, `[^a]`, `\n`,
}

// free is for what may take as long as it likes.
func free(int) error { return nil }

const longSample = "ab é1x2 aab\nz b\xffa\n\nbaab. "

// Matches that are searched one by one are those that are found at once.
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

// A search to the end of a page behind each match ends with the time of the
// rules; where one match will do, there is one search.
func TestPatternOfQuadraticTime(t *testing.T) {
	body := "<p>" + strings.Repeat("a", 1<<20)
	for _, field := range []string{`{css: p, regex: 'a(?:.*z)?', all: true}`, `{css: p, replace: [{regex: 'a(?:.*z)?', with: b}]}`} {
		rules := mustCompile(t, "records: [{kind: a, fields: {t: "+field+"}}]")
		rules.limit = 300 * time.Millisecond
		result := mustApply(t, rules, page(htmlType, body))
		if len(result.Problems) != 1 || !strings.Contains(result.Problems[0].Reason, "longer than") {
			t.Errorf("%s: %d records, problems %+v", field, len(result.Records), result.Problems)
		}
	}
	rules := mustCompile(t, `records: [{kind: a, when: {regex: 'a(?:.*z)?'}, fields: {t: {css: p, regex: 'a(?:.*z)?'}}}]`)
	if result := mustApply(t, rules, page(htmlType, body)); len(result.Records) != 1 || string(result.Records[0].Fields(nil)) != `{"t":"a"}` {
		t.Errorf("got %+v", result)
	}
}
