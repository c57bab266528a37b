package render

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// Scrolling loads and keeps all rows of a list, in order and once, whichever element scrolls, and
// whatever happens to rows out of view.
func TestScrollKeepsAllRows(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 4, Pages: 1000})
	const (
		box = `<style>body { margin: 0 } #box { height: 400px; overflow: auto; position: relative } .row { height: 40px; box-sizing: border-box }</style>
			<div id=box><div id=list></div></div>`
		open = `<style>body { margin: 0 } .row { height: 40px }</style><div id=list></div>`
		more = `let n = 0; const row = i => { const e = document.createElement('div'); e.className = 'row'; e.textContent = 'row-' + i + '.'; return e }
			const add = () => { for (let i = 0; i < 30 && n < 100; i++) list.append(row(++n)) }; add()
			const near = e => e.scrollTop + e.clientHeight > e.scrollHeight - 50;`
		// of a list of 100 rows of 40 px, those that are in view
		view = `const row = i => { const e = document.createElement('div'); e.className = 'row'; e.textContent = 'row-' + i + '.'; return e }
			const range = (top, high) => { const from = Math.max(0, Math.floor(top / 40) - 2), all = []; for (let i = from; i < Math.min(100, from + high / 40 + 4); i++) all.push(i + 1); return all };`
		absolute = `list.style.cssText = 'height: 4000px; position: relative'
			const put = (e, i) => { e.style.cssText = 'position: absolute; width: 100%; top: ' + (i - 1) * 40 + 'px'; return e };`
	)
	for name, document := range map[string]string{
		"of the window":  open + `<script>` + more + `addEventListener('scroll', () => { if (near(document.documentElement)) add() })</script>`,
		"of a container": box + `<script>` + more + `box.onscroll = () => { if (near(box)) add() }</script>`,
		"of a container in a shadow root": `<main id=main></main><script>main.attachShadow({mode: 'open'}).innerHTML = ` + "`" + box + "`" + `
			const box = main.shadowRoot.getElementById('box'), list = main.shadowRoot.getElementById('list');` + more + `box.onscroll = () => { if (near(box)) add() }</script>`,
		"loaded a while later": open + `<script>` + more + `let t; addEventListener('scroll', () => { clearTimeout(t); t = setTimeout(() => { if (near(document.documentElement)) add() }, 500) })</script>`,
		"of a locked page": open + `<style>html, body { height: 100%; overflow: hidden } body { position: fixed; width: 100% }</style><script>` + more + `
			addEventListener('scroll', () => { if (near(document.documentElement)) add() })</script>`,
		"beside others that scroll": `<pre style="height:120px;overflow:auto">` + "\n\n\n\n\n\n\n\n\n\n\n\n\n\n" + `</pre>` + box + `<div style="height:3000px"></div>
			<script>` + more + `box.onscroll = () => { if (near(box)) add() }</script>`,
		"rows made anew": box + `<script>` + view + absolute + `
			const show = () => { list.innerHTML = ''; for (const i of range(box.scrollTop, 400)) list.append(put(row(i), i)) }; box.onscroll = show; show()</script>`,
		"rows that leave": box + `<script>` + view + absolute + `const shown = new Map(), show = () => {
			const want = range(box.scrollTop, 400)
			for (const [i, e] of shown) if (!want.includes(i)) { e.remove(); shown.delete(i) }
			for (const i of want) if (!shown.has(i)) { shown.set(i, put(row(i), i)); list.append(shown.get(i)) }
			}; box.onscroll = show; show()</script>`,
		"rows that are used again": box + `<script>` + view + absolute + `const pool = [...Array(14)].map(() => list.appendChild(row(0)))
			const show = () => range(box.scrollTop, 400).forEach((i, at) => { put(pool[i % 14], i).textContent = 'row-' + i + '.' }); box.onscroll = show; show()</script>`,
		"cells that are used again": box + `<script>` + view + absolute + `const pool = [...Array(14)].map(() => { const e = row(0); e.innerHTML = '<b></b> <i></i>'; return list.appendChild(e) })
			const show = () => range(box.scrollTop, 400).forEach(i => { const [b, c] = put(pool[i % 14], i).children; b.textContent = 'row-' + i + '.'; c.textContent = 'cell ' + i }); box.onscroll = show; show()</script>`,
		"rows between spaces of the window": open + `<script>` + view + `const show = () => { const all = range(scrollY, innerHeight)
			list.style.paddingTop = (all[0] - 1) * 40 + 'px'; list.style.paddingBottom = (100 - all.at(-1)) * 40 + 'px'; list.replaceChildren(...all.map(row)) }
			addEventListener('scroll', show); show()</script>`,
		"rows that come later": box + `<script>` + view + absolute + `let t; const show = () => {
			list.replaceChildren(...range(box.scrollTop, 400).map(i => { const e = put(row(i), i); e.dataset.text = e.textContent; e.textContent = 'Loading…'; return e }))
			clearTimeout(t); t = setTimeout(() => { for (const e of list.children) e.textContent = e.dataset.text }, 400) }; box.onscroll = show; show()</script>`,
		"beside a text that changes": `<p id=where></p>` + box + `<p>after</p><script>` + view + absolute + `const show = () => {
			where.textContent = 'at ' + box.scrollTop; list.innerHTML = ''; for (const i of range(box.scrollTop, 400)) list.append(put(row(i), i)) }; box.onscroll = show; show()</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := actOn(t, r, document, `{"mode":"always","actions":[{"scroll":60}]}`)
			var rows, want []string
			for _, m := range regexp.MustCompile(`>(row-\d+)\.`).FindAllSubmatch(page.HTML, -1) {
				rows = append(rows, string(m[1]))
			}
			for i := range 100 {
				want = append(want, fmt.Sprintf("row-%d", i+1))
			}
			if !slices.Equal(rows, want) || page.Cut != "" {
				t.Errorf("%s, cut %q: %d rows: %v", page.Actions, page.Cut, len(rows), rows)
			}
		})
	}
}

// Equal rows are kept as separate rows.
func TestScrollKeepsRowsThatAreAlike(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 1, Pages: 1000})
	page := actOn(t, r, `<div id=box style="height:400px;overflow:auto"><div id=list style="height:4000px;position:relative"></div></div><script>
		const show = () => { list.innerHTML = ''; const from = Math.floor(box.scrollTop / 40)
		for (let i = from; i < Math.min(100, from + 12); i++) list.insertAdjacentHTML('beforeend', '<div style="position:absolute;height:40px;top:' + i * 40 + 'px">alike</div>') }
		box.onscroll = show; show()</script>`, `{"mode":"always","actions":[{"scroll":60,"in":"#box"}]}`)
	if n := len(regexp.MustCompile(`\dpx">alike</div>`).FindAll(page.HTML, -1)); n != 100 {
		t.Errorf("%d rows: %s", n, page.HTML)
	}
}
