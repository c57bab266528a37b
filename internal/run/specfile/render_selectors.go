package specfile

import (
	"fmt"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/internal/page/css"
	"seine/pkg/crawlspec"
)

// renderSelectors reports selectors that browsers do not support. The renderer would wait for them
// in vain.
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
	// notInBrowsers matches selector extensions of record rules that browsers lack.
	notInBrowsers = lazyregexp.New(`(?i):(?:contains|containsown|matches|matchesown|haschild|input)\b|[!#]=`)
	// quotedOrEscaped matches quoted strings and escaped characters in selectors.
	quotedOrEscaped = lazyregexp.New(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.`)
)

// browserSelector validates a selector for browsers. Browsers support more pseudo-classes than
// record rules, so it accepts any selector that has one.
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
