package parser

import (
	"fmt"
	"strings"

	"seine/internal/base/humanize"
	"seine/pkg/messages"
)

// warning is what is wrong with a sitemap or a feed that was read all the same.
type warning struct {
	repairs    int   // places that are not XML
	read       int   // entries
	unreadable int   // entries without a URL that can be fetched
	cut        bool  // it has more than is read
	err        error // why the reading ended, if not at its end
}

// littleText is how many bytes of text a page has at most that may be an empty shell.
const littleText = 200

// renderWarning says what a rendered page may lack, "" if it seems complete.
func renderWarning(page *messages.Page, text string) string {
	if len(page.RenderProblems) > 0 && len(text) < littleText && page.Cut == "" {
		return "the rendered page has little text: " + page.RenderProblems[0].String()
	}
	return page.Cut
}

// String tells it, "" if nothing is wrong.
func (w warning) String() string {
	var parts []string
	if w.unreadable > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d entries without a URL that can be fetched", w.unreadable, w.unreadable+w.read))
	}
	if w.repairs > 0 {
		parts = append(parts, humanize.Plural(w.repairs, "error")+" in the XML passed over")
	}
	if w.cut {
		parts = append(parts, fmt.Sprintf("only the first %d entries read: it is longer than that", w.read))
	}
	if w.err != nil {
		parts = append(parts, w.err.Error())
	}
	return strings.Join(parts, "; ")
}
