package parser

import (
	"strings"
	"testing"

	"seine/pkg/messages"
)

// A record lists the problems of a rendered page, whatever fields it has. A truncated page counts
// as incomplete. So does a page with problems and hardly any text, but not one with problems and
// its full text.
func TestRenderedPageSaysWhatItLacks(t *testing.T) {
	problems := messages.RenderProblems{{Reason: "robots.txt forbids it", Count: 2, URL: "http://127.0.0.1/api"}}
	const told = `"render_problems":[{"reason":"robots.txt forbids it","count":2,"url":"http://127.0.0.1/api"}]`
	for _, spec := range []string{"page: {emit: always}", "page: {fields: [url, title]}"} {
		for _, tt := range []struct {
			cut      string
			problems messages.RenderProblems
			text     string
			warning  string
			record   string
		}{
			{"", nil, "short", "", ""},
			{"the time was over", nil, inEnglish, "the time was over", `"cut":"the time was over"`},
			{"the time was over", problems, "short", "the time was over", told},
			{"", problems, strings.Repeat(inEnglish, 2), "", told},
			{"", problems, "short", "the rendered page has little text: robots.txt forbids it, 2 times, such as http://127.0.0.1/api", told},
		} {
			p, pg := parserOf(t, spec), page("text/html")
			pg.Cut, pg.RenderProblems = tt.cut, tt.problems
			records, _ := p.results(t, pg, "<p>"+tt.text)
			if got := p.parsed(t, pg, []byte("<p>"+tt.text)).last.Warning; got != tt.warning {
				t.Errorf("%s, %+v: warning %q", spec, tt, got)
			}
			if len(records) != 1 || !strings.Contains(records[0], tt.record) || tt.record == "" && strings.Contains(records[0], "render_problems") {
				t.Errorf("%s, %+v: records %v", spec, tt, records)
			}
		}
	}
}
