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

// warning describes the errors of a sitemap or a feed that was read nevertheless.
type warning struct {
	repairs    int   // places that are not XML
	read       int   // entries
	unreadable int   // entries without a fetchable URL
	cut        bool  // it has more entries than were read
	err        error // why the reading ended early
}

// A page with less text, in bytes, and fewer links may be an empty shell.
const (
	littleText = 200
	fewLinks   = 10 // maximum of its links
)

// contentless counts the pages of a plan that arrived without their content.
type contentless struct {
	shells pageCount // empty shells that were not rendered
	logins pageCount // login forms
}

// pageCount counts pages, and keeps the URL of the first.
type pageCount struct {
	pages atomic.Int64
	first atomic.Pointer[string] // URL
}

func (c *pageCount) add(url *string) {
	c.pages.Add(1)
	c.first.CompareAndSwap(nil, url)
}

// Sample returns the number of pages, and the URL of one.
func (c *pageCount) Sample() (pages int64, example string) {
	if first := c.first.Load(); first != nil {
		example = *first
	}
	return c.pages.Load(), example
}

// count counts a page without text, links or records that has a script or a password field.
func (c *contentless) count(r *parsedPage, body []byte) {
	spec, text := r.plan.spec, len(r.scanned.Text)
	switch {
	case r.doc.Type.Class != mediatype.HTML || len(r.byRules.Records) > 0 || text >= loginText:
	case (spec.Render == nil || spec.Render.Login == nil) && (r.page.Depth == 0 || !isLogin().MatchString(weburl.Path(r.page.URL))) && passwordField().Match(body):
		c.logins.add(&r.page.URL)
	case text < littleText && len(r.follow) < fewLinks && r.page.Rendered == "" && !spec.MayRender() && htmlpage.HasScript(body):
		c.shells.add(&r.page.URL)
	}
}

// loginText bounds the text of a page that may be a login form, in bytes.
const loginText = 1000

var (
	passwordField = lazyregexp.New(`(?i)<input\b[^>]*\btype\s*=\s*["']?password\b`)
	isLogin       = lazyregexp.New(`(?i)log[-_]?[io]n|sign[-_]?[iu]|register|auth|password|account`) // the URL of a login page, which any site may have
)

// Contentless returns the empty shells and the login forms that this process has parsed under a
// crawl's newest spec.
func (p *Parser) Contentless(crawl string) (shells, logins *pageCount) {
	plan, found := p.plans.Peek(crawl)
	if !found {
		return new(pageCount), new(pageCount)
	}
	return &plan.contentless.shells, &plan.contentless.logins
}

// renderWarning describes what a rendered page may lack, "" if it seems complete.
func renderWarning(page *messages.Page, text string) string {
	if len(page.RenderProblems) > 0 && len(text) < littleText && page.Cut == "" {
		return "the rendered page has little text: " + page.RenderProblems[0].String()
	}
	return page.Cut
}

// String describes the errors, "" if there are none.
func (w warning) String() string {
	var parts []string
	if w.unreadable > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d entries without a URL that can be fetched", w.unreadable, w.unreadable+w.read))
	}
	if w.repairs > 0 {
		parts = append(parts, humanize.Plural(w.repairs, "error")+" in the XML skipped")
	}
	if w.cut {
		parts = append(parts, fmt.Sprintf("only the first %d entries were read", w.read))
	}
	if w.err != nil {
		parts = append(parts, w.err.Error())
	}
	return strings.Join(parts, "; ")
}
