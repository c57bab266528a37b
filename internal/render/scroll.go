package render

import (
	"context"
	"strings"
	"time"

	"seine/internal/base/humanize"
	"seine/pkg/crawlspec"
)

// endTime is how long nothing may be in progress before scrolling counts as complete: many lists
// load a while after the last scroll.
const endTime = 800 * time.Millisecond

// scroll scrolls down until nothing more appears: the element of the action, or the window and
// everything in it that scrolls.
func (a pageActions) scroll(ctx context.Context, how *crawlspec.RenderAction) (string, error) {
	element := "undefined"
	if how.In != "" {
		element = found(how.In)
	}
	a.scrolled = true
	n := 0
	for before := ""; n < how.Scroll; {
		now := ""
		if err := a.evaluateInto(ctx, strings.Replace(scrollDown, "ELEMENT", element, 1), &now); err != nil {
			return "", err
		}
		rest := endTime
		switch {
		case now == "not found":
			return "", unmet(now)
		case now == "end" && before == "end":
			return screens(n), nil
		case now == "":
			n++
			rest = actTime
		}
		before = now
		a.rest(ctx, rest)
	}
	return screens(n), nil
}

func screens(n int) string { return "scrolled " + humanize.Plural(n, "screen") }

// scrollDown scrolls by one screen. It yields "" if something moved, or if there is more than
// before. Otherwise it yields the reason: the end is reached for now; it has gone back to the first
// rows of a list; or the rows in view are not loaded yet.
//
// Rows of a list may leave the document when they leave the view, or be reused for other rows. Such
// a list is detected at the first step, which changes at least two of its rows and removes
// something; the list is then scrolled from its start again. Its rows are copied at each step, by
// their numbers or their positions in the list. showAll puts the copies into the list.
const scrollDown = `(given => {
	if (given === null) return 'not found'
	const s = window.seineList ??= {rows: new Map(), changed: new Set(), removed: new Set(), high: new WeakMap(), busy: -1}
	const below = r => [...r.querySelectorAll('*')].flatMap(e => e.shadowRoot ? [e, ...below(e.shadowRoot)] : [e])
	const above = e => e.parentElement ?? e.getRootNode().host
	const page = document.scrollingElement ?? document.documentElement
	const scrolls = e => {
		if (e.scrollHeight <= e.clientHeight + 1 || e.clientHeight < 100 || e === page || e.localName === 'textarea') return false
		const how = getComputedStyle(e).overflowY
		return how === 'auto' || how === 'scroll' || how === 'hidden' && e.clientHeight > innerHeight / 2
	}
	const unlock = e => {
		const style = getComputedStyle(e)
		if (style.overflowY === 'hidden' || style.overflowY === 'clip') e.style.setProperty('overflow', 'visible', 'important')
		if (style.position === 'fixed') e.style.setProperty('position', 'static', 'important')
	}
	if (!given) [document.documentElement, document.body].filter(e => e).forEach(unlock)
	const boxes = given ? [given] : [page, ...below(document).filter(scrolls)]
	s.log ??= new MutationObserver(all => {
		for (const r of all) {
			if (r.type === 'characterData') s.changed.add(r.target)
			for (const n of r.addedNodes) s.changed.add(n)
			if (r.type === 'characterData' || r.removedNodes.length) s.removed.add(r.target)
		}
	})
	for (const b of boxes) s.log.observe(b.getRootNode(), {childList: true, subtree: true, characterData: true})
	s.look = () => {
		let busy = false
		for (const [list, rows] of s.rows) for (const e of list.children) {
			const at = e.getBoundingClientRect(), text = e.textContent.trim(), sticks = getComputedStyle(e).position === 'sticky'
			if (!at.height || !text && !e.querySelector('a[href], img')) continue
			const row = {shown: e, copy: e.cloneNode(true), x: at.left, y: at.top, text}
			row.number = sticks ? text : e.dataset.index ?? e.getAttribute('aria-rowindex') ?? e.getAttribute('aria-posinset')
			for (let o = e; o; o = above(o)) row.y += o.scrollTop
			const same = o => row.number !== null ? o.number === row.number :
				Math.abs(o.y - row.y) < at.height / 2 && Math.abs(o.x - row.x) < at.width / 2 || text.length > 40 && o.text === text
			const known = rows.find(same)
			known ? Object.assign(known, row) : rows.push(row)
			busy ||= /(…|\.\.\.)$/.test(text) || e.matches('[aria-busy=true]') || !!e.querySelector('[aria-busy=true]')
		}
		return busy
	}
	s.find = () => {
		const changed = new Map()
		for (const n of s.changed) for (let e = n; n.isConnected && e.parentElement; e = e.parentElement) {
			if (e.nodeType === 1) changed.set(e.parentElement, (changed.get(e.parentElement) ?? new Set()).add(Math.round(e.getBoundingClientRect().top)))
		}
		const lists = []
		for (const [e] of [...changed].filter(([, tops]) => tops.size > 1).sort(([, a], [, b]) => b.size - a.size)) {
			if (!lists.some(l => l.contains(e) || e.contains(l))) lists.push(e)
		}
		return lists.filter(l => [...s.removed].some(e => l.contains(e)))
	}
	if (!s.rows.size) {
		for (const list of s.find()) s.rows.set(list, [])
		if (s.rows.size) {
			for (const b of boxes) b.scrollTop = 0
			return 'back'
		}
	}
	const tops = boxes.reduce((sum, b) => sum + b.scrollTop, 0)
	if (s.look() && s.busy !== tops) {
		s.busy = tops
		return 'busy'
	}
	let end = 'end'
	for (const b of boxes) {
		const top = b.scrollTop, high = b.scrollHeight
		b.scrollBy({top: b.clientHeight * (s.rows.size ? 0.8 : 1), behavior: 'instant'})
		if (b.scrollTop > top || high > (s.high.get(b) ?? 0)) end = ''
		s.high.set(b, high)
	}
	return end
})(ELEMENT)`

// showAll makes the lists of the page show all rows that were in view, in their order.
const showAll = `(() => {
	window.seineList?.look?.()
	for (const [list, rows] of window.seineList?.rows ?? []) {
		for (const r of rows) r.shown.remove()
		list.append(...rows.sort((a, b) => a.y - b.y || a.x - b.x).map(r => r.copy))
	}
})()`
