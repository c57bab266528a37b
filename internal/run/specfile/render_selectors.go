package specfile

import (
	"fmt"
	"strings"

	"seine/internal/base/lazyregexp"
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
	check := func(path, text string) {
		if text != "" {
			p.Add(path, browserSelector(text))
		}
	}
	if r.Login != nil {
		check("render.login.wait.selector", r.Login.Wait.Selector)
	}
	for i := range r.Actions {
		a, path := &r.Actions[i], fmt.Sprintf("render.actions[%d].", i)
		if a.Wait != nil {
			check(path+"wait.selector", a.Wait.Selector)
		}
		check(path+"click", a.Click)
		check(path+"type", a.Type)
		check(path+"in", a.In)
	}
	return p.Err()
}

var (
	// notInBrowsers is what selectors of record rules may have and browsers do not know.
	notInBrowsers = lazyregexp.New(`(?i):(?:contains|containsown|matches|matchesown|haschild|input)\b|[!#]=`)
	// quotedOrEscaped are texts in selectors, and characters that stand for themselves.
	quotedOrEscaped = lazyregexp.New(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.`)
)

// browserSelector reports a selector that is none. Browsers know more pseudo-classes than
// record rules do, so a selector with one is let through.
func browserSelector(text string) error {
	bare := quotedOrEscaped().ReplaceAllString(text, "x")
	if found := notInBrowsers().FindString(bare); found != "" {
		return fmt.Errorf("%s: browsers do not know %s, which rules of records have: write plain CSS", quoted(text), found)
	}
	if _, err := css.Compile(text); err != nil && !strings.Contains(bare, ":") {
		return fmt.Errorf("css %s: %w", quoted(text), err)
	}
	return nil
}
