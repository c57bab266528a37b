package parser

import (
	"fmt"
	"strings"
	"sync/atomic"

	"seine/internal/base/humanize"
	"seine/internal/base/lazyregexp"
	"seine/internal/base/weburl"
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

// suspects counts pages without what they are for, of a plan.
type suspects struct {
	shells counted // that were not rendered, and that scripts fill
	logins counted // with the form of a login in place of what is behind it
}

// counted are pages, and one of them.
type counted struct {
	pages atomic.Int64
	first atomic.Pointer[string] // URL
}

func (c *counted) add(url *string) {
	c.pages.Add(1)
	c.first.CompareAndSwap(nil, url)
}

// Sample returns how many they are, and the URL of one.
func (c *counted) Sample() (pages int64, example string) {
	if first := c.first.Load(); first != nil {
		example = *first
	}
	return c.pages.Load(), example
}

// count counts a page that came without text, links or records, but with a script, or with a form that asks for a password.
func (s *suspects) count(r *parsedPage, body []byte) {
	spec, text := r.plan.spec, len(r.scanned.Text)
	switch {
	case r.doc.Type.Class != mediatype.HTML || len(r.byRules.Records) > 0 || text >= loginText:
	case (spec.Render == nil || spec.Render.Login == nil) && (r.page.Depth == 0 || !isLogin().MatchString(weburl.Path(r.page.URL))) && passwordField().Match(body):
		s.logins.add(&r.page.URL)
	case text < littleText && len(r.follow) < fewLinks && r.page.Rendered == "" && !spec.MayRender() && htmlpage.HasScript(body):
		s.shells.add(&r.page.URL)
	}
}

// loginText is how many bytes of text a page has less of that may be the form of a login.
const loginText = 1000

var (
	passwordField = lazyregexp.New(`(?i)<input\b[^>]*\btype\s*=\s*["']?password\b`)
	isLogin       = lazyregexp.New(`(?i)log[-_]?[io]n|sign[-_]?[iu]|register|auth|password|account`) // which any site may have
)

// Suspects returns the pages of a crawl's newest spec in this process that scripts fill, and that want a login.
func (p *Parser) Suspects(crawl string) (shells, logins *counted) {
	plan, found := p.plans.Peek(crawl)
	if !found {
		return new(counted), new(counted)
	}
	return &plan.suspects.shells, &plan.suspects.logins
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
