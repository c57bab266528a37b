package render

import (
	"context"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/runtime"
)

// pressLinks presses what looks like a link and has no address, and notes where that would lead. The page is taken before, and nothing
// is sent any more: what else it presses has no effect on the site.
func (v *visit) pressLinks(ctx context.Context, p *Page) {
	if v.job.How.PressLinks == 0 {
		return
	}
	p.Totals = v.proxy.End()
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	script := strings.Replace(pressAll, "MOST", strconv.Itoa(v.job.How.PressLinks), 1)
	_, _, _ = runtime.Evaluate(script).WithAwaitPromise(true).WithUserGesture(true).Do(ctx) // what was found before it failed is known
}

// pressAll presses elements, and leads nowhere. Where they lead, it tells by windows that it opens.
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
