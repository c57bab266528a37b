package main

import (
	"strings"

	"seine/internal/base/humanize"
	"seine/pkg/crawlspec"
)

// rendered says which pages are shown in a browser, and what is kept of that beside their
// text.
func rendered(r *crawlspec.Render) string {
	var all []string
	for i := range r.Modes {
		all = append(all, renderedAt(r.Modes[i].Mode, patterns(r.Modes[i].Match)))
	}
	if len(all) > fewPatterns {
		all = append(all[:fewPatterns], "and "+humanize.Plural(len(all)-fewPatterns, "more rule"))
	}
	others := renderedAt(r.Mode, "")
	if len(all) > 0 {
		others = "else " + others
	}
	all = append(all, others)
	if kept := keptOf(r); len(kept) > 0 {
		return strings.Join(all, "; ") + ", and keeps " + strings.Join(kept, " and ")
	}
	return strings.Join(all, "; ")
}

// renderedAt says what a mode means for the URLs that match, for all if nothing must.
func renderedAt(mode crawlspec.RenderMode, match string) string {
	at := ""
	if match != "" {
		at = " at " + match
	}
	switch mode {
	case crawlspec.RenderAlways:
		return "every page" + at
	case crawlspec.RenderAuto:
		return "pages" + at + " that say less without a browser"
	default:
		return "no page" + at
	}
}

// keptOf names what is kept of a page as it looks.
func keptOf(r *crawlspec.Render) (kept []string) {
	if r.Screenshot {
		kept = append(kept, "a screenshot")
	}
	if r.PDF {
		kept = append(kept, "a PDF")
	}
	return kept
}
