package parser

import (
	"fmt"
	"strings"
	"sync/atomic"

	"seine/internal/base/humanize"
	"seine/internal/page/htmlpage"
	"seine/internal/page/mediatype"
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

// A page with less text, in bytes, and fewer links may be an empty shell.
const (
	littleText = 200
	fewLinks   = 10 // that it has, too
)

// shells counts pages that were not rendered and look like empty shells, which scripts fill.
type shells struct {
	pages atomic.Int64
	first atomic.Pointer[string] // URL
}

// count counts a page that came without text, links or records, but with a script.
func (s *shells) count(r *parsedPage, body []byte) {
	few := len(r.scanned.Text) < littleText && len(r.follow) < fewLinks && len(r.byRules.Records) == 0
	if few && r.page.Rendered == "" && !r.plan.spec.MayRender() && r.doc.Type.Class == mediatype.HTML && htmlpage.HasScript(body) {
		s.pages.Add(1)
		s.first.CompareAndSwap(nil, &r.page.URL)
	}
}

// Shells returns how many pages of a crawl's newest spec have scripts and hardly any text, in this process, and one of them.
func (p *Parser) Shells(crawl string) (pages int64, example string) {
	plan, found := p.plans.Peek(crawl)
	if !found || plan.shells.pages.Load() == 0 {
		return 0, ""
	}
	return plan.shells.pages.Load(), *plan.shells.first.Load()
}

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
