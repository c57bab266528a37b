package render

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/domsnapshot"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// capture takes the result of a page in its current state.
type capture struct {
	*visit
	page *Page
}

func (c capture) take() error {
	ctx, cancel := context.WithTimeout(c.ctx, snapTime)
	defer cancel()
	if err := (pageLogin{c.visit}).checkSession(ctx); err != nil {
		return err
	}
	if c.scrolled {
		_, _ = c.tab.evaluate(ctx, showAll) // if it throws, the page lacks these rows
	}
	ctx = c.tab.within(ctx)
	_, nodes, _, err := memory.GetDOMCounters().Do(ctx)
	if err != nil {
		return err
	}
	if nodes > maxNodes {
		return errElements
	}
	if c.page.large = nodes > manyNodes; c.page.large {
		return errors.Join(c.many(ctx), c.pictures(ctx))
	}
	return c.shown(ctx)
}

// shown takes the document as a reader sees it.
func (c capture) shown(ctx context.Context) error {
	documents, text, err := domsnapshot.CaptureSnapshot(shownStyles).Do(ctx)
	if err == nil {
		err = c.pictures(ctx)
	}
	if err != nil {
		return err
	}
	c.pressLinks(ctx)
	c.page.HTML, err = snapshotHTML(documents, text, c.job.Main.URL, int(c.job.MaxBody), navigation{c.visit}.openedURLs())
	return err
}

// manyNodes is the maximum number of nodes for a snapshot: one of 450,000 takes 4 s and 250 MB more
// in the browser.
const manyNodes = 250_000

// many takes the document without a snapshot: including hidden elements, and without frames.
func (c capture) many(ctx context.Context) error {
	root, err := dom.GetDocument().WithDepth(0).Do(ctx)
	if err != nil {
		return err
	}
	html, err := dom.GetOuterHTML().WithNodeID(root.NodeID).WithIncludeShadowDOM(true).Do(ctx)
	if err != nil {
		return err
	}
	if len(html) > int(c.job.MaxBody) {
		return errTooLarge
	}
	c.page.HTML = []byte(html)
	return nil
}

// pictures takes the screenshot and the PDF of the page.
func (c capture) pictures(ctx context.Context) (err error) {
	if c.job.How.Screenshot {
		if err := c.screenshot(ctx, c.page); err != nil {
			return err
		}
	}
	if c.job.How.PDF {
		c.page.PDF, err = c.print(ctx)
	}
	return err
}

// papers has the width and height of crawlspec.PaperFormats, in inches.
var papers = map[string][2]float64{
	"a3": {11.69, 16.54}, "a4": {8.27, 11.69}, "a5": {5.83, 8.27}, "letter": {8.5, 11}, "legal": {8.5, 14}, "tabloid": {11, 17},
}

// print prints the page with the options of the job.
func (c capture) print(ctx context.Context) ([]byte, error) {
	const inch = 2.54 // cm
	how := &c.job.How.Print
	margin := how.Margin / inch
	command := page.PrintToPDF().WithPrintBackground(how.Background).WithLandscape(how.Landscape).WithScale(how.Scale).
		WithMarginTop(margin).WithMarginBottom(margin).WithMarginLeft(margin).WithMarginRight(margin)
	if paper, given := papers[how.Format]; given {
		command = command.WithPaperWidth(paper[0]).WithPaperHeight(paper[1])
	} else {
		command = command.WithPreferCSSPageSize(true)
	}
	pdf, _, err := command.Do(ctx)
	return pdf, err
}

// pressLinks clicks elements that look like links without an address, and records where they lead.
// The page was taken before, and no further requests are sent, so these clicks have no effect on
// the site.
func (c capture) pressLinks(ctx context.Context) {
	if c.job.How.PressLinks == 0 {
		return
	}
	c.page.Totals = c.proxy.End()
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	script := strings.Replace(pressAll, "MOST", strconv.Itoa(c.job.How.PressLinks), 1)
	_, _, _ = runtime.Evaluate(script).WithAwaitPromise(true).WithUserGesture(true).Do(ctx) // results found before a failure are kept
}

// pressAll clicks elements, and cancels their navigations. It reports their targets by opening
// windows.
const pressAll = `(async most => {
	const open = window.open
	window.alert = window.confirm = window.prompt = () => {}
	navigation.addEventListener('navigate', e => {
		open(e.destination.url)
		if (e.cancelable) e.preventDefault()
	})
	const below = r => [...r.querySelectorAll('*')].flatMap(e => e.shadowRoot ? [e, ...below(e.shadowRoot)] : [e])
	const named = '[role=link], [role=menuitem], [data-href], [data-url], [onclick], a:not([href]), button, nav *, header *, [role=navigation] *'
	const clickable = e => e.matches('button, a, [role], [onclick], [data-href], [data-url]') ||
		getComputedStyle(e).cursor === 'pointer' && !(e.parentElement && getComputedStyle(e.parentElement).cursor === 'pointer')
	const links = below(document.body).filter(e => e.matches(named) && !e.closest('a[href], form, label') && e.checkVisibility() && clickable(e))
	for (const e of links.slice(0, most)) {
		e.click()
		await new Promise(done => seine.wait(done, 20))
	}
	await new Promise(done => seine.wait(done, 200))
})(MOST)`
