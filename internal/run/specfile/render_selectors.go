package specfile

import (
	"fmt"
	"regexp"
	"strings"

	"seine/internal/page/css"
	"seine/pkg/crawlspec"
)

// renderSelectors reports selectors that no browser can read: a page would be waited for in
// vain.
func renderSelectors(r *crawlspec.Render) error {
	if r == nil {
		return nil
	}
	var p crawlspec.Problems
	if text := r.Wait.Selector; text != "" {
		p.Add("render.wait.selector", browserSelector(text))
	}
	if l := r.Login; l != nil && l.Wait.Selector != "" {
		p.Add("render.login.wait.selector", browserSelector(l.Wait.Selector))
	}
	for i := range r.Click {
		if text := r.Click[i].Selector; text != "" {
			p.Add(fmt.Sprintf("render.click[%d].selector", i), browserSelector(text))
		}
	}
	return p.Err()
}

var (
	// notInBrowsers is what selectors of record rules may have and browsers do not know.
	notInBrowsers = regexp.MustCompile(`(?i):(?:contains|containsown|matches|matchesown|haschild|input)\b|[!#]=`)
	// quotedOrEscaped are texts in selectors, and characters that stand for themselves.
	quotedOrEscaped = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.`)
)

// browserSelector reports a selector that is none. Browsers know more pseudo-classes than
// record rules do, so a selector with one is let through.
func browserSelector(text string) error {
	bare := quotedOrEscaped.ReplaceAllString(text, "x")
	if found := notInBrowsers.FindString(bare); found != "" {
		return fmt.Errorf("%s: browsers do not know %s, which rules of records have: write plain CSS", quoted(text), found)
	}
	if _, err := css.Compile(text); err != nil && !strings.Contains(bare, ":") {
		return fmt.Errorf("css %s: %w", quoted(text), err)
	}
	return nil
}
