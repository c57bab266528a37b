package render

import (
	"context"
	"time"

	"seine/pkg/crawlspec"
)

// shellTime is how long a page that is idle may look like an empty shell, and no more than half of its time. In it, timers end that
// are there to look good, or to let a page come to rest.
const shellTime = 5 * time.Second

// watchTimers has a document know until when a timer may fill it, and gives the renderer timers that do not count.
const watchTimers = `{
	const native = setTimeout
	let due = 0
	const watched = (set, longest) => new Proxy(set, {apply(set, self, args) {
		if (args[1] > 0 && args[1] <= 5000) due = Math.max(due, performance.now() + (longest || +args[1]))
		return Reflect.apply(set, self, args)
	}})
	window.setTimeout = watched(setTimeout, 0)
	window.setInterval = watched(setInterval, 5000)
	Object.defineProperty(window, 'seine', {value: {wait: (f, ms) => native(f, ms), due: () => due > performance.now()}})
}
`

// shownText is the text that a page shows.
const shownText = `(() => {
	const text = e => (e.innerText ?? '') + [...e.querySelectorAll('*')].map(x => x.shadowRoot ? [...x.shadowRoot.children].map(text).join('\n') : '').join('')
	return document.body ? text(document.body).trim() : ''
})()`

// amount is how much text and how many links a page shows, and whether that is more than an empty shell has.
type amount struct {
	Text   int  `json:"text"`
	Links  int  `json:"links"`
	Filled bool `json:"filled"`
}

// shownAmount is the amount of a page.
const shownAmount = `(() => {
	const text = ` + shownText + `.length, links = document.links.length
	return {text, links, filled: text >= 200 || links >= 10}
})()`

// isFilled is whether a page is no empty shell: it shows some text or links; or no timer is to run soon, and it does not say that
// something is to come, as in "Loading…".
const isFilled = `(() => {
	if (` + shownAmount + `.filled) return true
	const shown = ` + shownText + `
	const says = /(…|\.\.\.)$/m.test(shown) || document.querySelector('[aria-busy=true], [role=progressbar], progress')
	return !window.seine?.due() && !(says && document.scripts.length)
})()`

// fill waits while the page looks like an empty shell, and until what fills it is complete.
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
