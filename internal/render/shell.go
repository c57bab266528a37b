package render

import (
	"context"
	"time"

	"seine/pkg/crawlspec"
)

// shellTime is how long an idle page may look like an empty shell, limited to half of its time. In
// this time, timers end that are for visual effects, or that wait for a page to settle.
const shellTime = 5 * time.Second

// watchTimers makes a document count the timers that may fill it, and gives the renderer timers
// that do not count. Clocks cannot show when a timer has run, since it may be late. So the renderer
// sets its own timer directly after it, for the same time.
const watchTimers = `{
	const wait = setTimeout.bind(window)
	let due = 0
	const watched = (set, longest) => new Proxy(set, {apply(set, self, args) {
		const timer = Reflect.apply(set, self, args)
		if (args[1] > 0 && args[1] <= 5000) {
			due++
			wait(() => wait(() => { due-- }, 50), longest || +args[1]) // 50 ms for frames, and for what else the timer begins at once
		}
		return timer
	}})
	window.setTimeout = watched(setTimeout, 0)
	window.setInterval = watched(setInterval, 5000)
	const isDue = () => due > 0
	const awaitTimers = async longest => {
		if (!isDue()) return false
		let over = false
		wait(() => { over = true }, longest)
		while (!over && isDue()) await new Promise(f => wait(f, 20))
		return true
	}
	Object.defineProperty(window, 'seine', {value: {wait, isDue, awaitTimers}})
}
`

// mainPart is the main content that a page declares, if visible, otherwise its body.
const mainPart = `([...document.querySelectorAll('main, [role=main]')].find(e => e.checkVisibility()) ?? document.body)`

// textShown returns the visible text of an element.
const textShown = `(element => {
	const text = e => (e.innerText ?? '') + [...e.querySelectorAll('*')].map(x => x.shadowRoot ? [...x.shadowRoot.children].map(text).join('\n') : '').join('')
	return element ? text(element).trim() : ''
})`

// amount is the amount of text and links that a page shows, and whether its main content exceeds an
// empty shell's.
type amount struct {
	Text   int  `json:"text"`
	Links  int  `json:"links"`
	Filled bool `json:"filled"`
}

// shownAmount yields the amount of a page.
const shownAmount = `(() => {
	const main = ` + mainPart + `, text = ` + textShown + `, all = text(document.body).length
	const filled = (main === document.body ? all : text(main).length) >= 200 || (main?.querySelectorAll('a[href]').length ?? 0) >= 10
	return {text: all, links: document.links.length, filled}
})()`

// isFilled yields whether a page is not an empty shell: its main content shows some text or links;
// or no timer is due soon, and it does not announce content, such as "Loading…".
const isFilled = `(() => {
	if (` + shownAmount + `.filled) return true
	const main = ` + mainPart + `
	const says = /(…|\.\.\.)$/m.test(` + textShown + `(main)) || main?.querySelector('[aria-busy=true], [role=progressbar], progress')
	return !window.seine?.isDue() && !(says && document.scripts.length)
})()`

// fill waits while the page looks like an empty shell, and then until its content is complete.
func (a pageActions) fill(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, min(shellTime, time.Duration(a.job.How.Timeout)/2))
	defer cancel()
	for {
		filled, err := a.tab.evaluate(within, isFilled)
		if filled && err == nil || within.Err() != nil {
			return context.Cause(ctx)
		}
		if a.until(within, isFilled) == nil {
			if err := a.settleOrStill(ctx, crawlspec.UntilIdle); err != nil {
				return err
			}
		}
	}
}
