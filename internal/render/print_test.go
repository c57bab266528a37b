package render

import (
	"bytes"
	"regexp"
	"testing"
)

// A page is printed on the paper of the spec, otherwise on that of its styles.
func TestPrint(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 4, Pages: 1000})
	const plain, styled = "<p>text", "<style>@page { size: A5 landscape }</style><p>text"
	long := "<p>" + string(bytes.Repeat([]byte("<br>line"), 60))
	for name, tt := range map[string]struct{ document, print, box, pages string }{
		"by default":             {plain, `{}`, "612 792", "1"},
		"as the styles say":      {styled, `{}`, "594.95996 420", "1"},
		"a format":               {plain, `{"format":"a4"}`, "595.91998 841.91998", "1"},
		"a format in landscape":  {plain, `{"format":"a4","landscape":true}`, "841.91998 595.91998", "1"},
		"small, without margins": {long, `{"scale":0.5,"margin":0}`, "612 792", "1"},
		"large, with margins":    {long, `{"scale":2,"margin":5}`, "612 792", "[3-9]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := actOn(t, r, tt.document, `{"pdf":true,"print":`+tt.print+`}`)
			if !bytes.HasPrefix(page.PDF, []byte("%PDF-")) || !regexp.MustCompile(`/MediaBox \[0 0 `+tt.box).Match(page.PDF) || !regexp.MustCompile("/Count "+tt.pages+`\b`).Match(page.PDF) {
				t.Errorf("%q", regexp.MustCompile(`/MediaBox [^\n]*|/Count \d+`).FindAll(page.PDF, 4))
			}
		})
	}
}
