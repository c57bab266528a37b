package render

import (
	"context"
	"encoding/json"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"

	"seine/internal/base/jsontext"
	"seine/pkg/crawlspec"
)

// pageActions do what the spec has done on a page.
type pageActions struct{ *visit }

// run does with the page what the job says: it scrolls, clicks, and runs a script.
func (a pageActions) run(ctx context.Context) error {
	a.mu.Lock()
	a.settled = true
	a.mu.Unlock()
	if err := a.scroll(ctx, a.job.How.Scroll); err != nil {
		return err
	}
	for _, c := range a.job.How.Click {
		if err := a.click(ctx, &c); err != nil {
			return err
		}
	}
	after := a.job.How.Scripts.After
	if after == "" {
		return nil
	}
	if _, err := a.tab.evaluate(ctx, "await (async () => {"+after+"\n})(), true"); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return &unfinished{"the script \"after\" failed: " + err.Error()}
	}
	return a.idle(ctx, idleTime)
}

// scrollDown scrolls by one screen, and yields whether that moved the page or there was more of it than before.
const scrollDown = `(() => {
	const e = document.scrollingElement || document.documentElement
	const top = e.scrollTop, high = e.scrollHeight, before = window.seineScrolled || 0
	window.scrollBy({top: window.innerHeight, behavior: 'instant'})
	window.seineScrolled = high
	return e.scrollTop > top || high > before
})()`

// scroll scrolls down until nothing more comes.
func (a pageActions) scroll(ctx context.Context, screens int) error {
	for range screens {
		more, err := a.tab.evaluate(ctx, scrollDown)
		if err != nil || !more {
			return err
		}
		if err := a.idle(ctx, actTime); err != nil {
			return err
		}
	}
	return nil
}

// actTime is for how long nothing may be under way until the page has done what a scroll or a click asks for.
const actTime = idleTime / 2

// click clicks a button until it is not there any more, or often enough. It does so as a person would, by the mouse, since pages can
// tell that from a script.
func (a pageActions) click(ctx context.Context, c *crawlspec.RenderClick) error {
	script := `(() => {
		const e = document.querySelector(` + quote(c.Selector) + `)
		if (!e || e.disabled || !e.checkVisibility()) return null
		e.scrollIntoView({block: 'center', behavior: 'instant'})
		const r = e.getBoundingClientRect()
		return {x: r.x + r.width / 2, y: r.y + r.height / 2}
	})()`
	for range c.Most() {
		value, _, err := runtime.Evaluate(script).WithReturnByValue(true).Do(a.tab.within(ctx))
		if err != nil {
			return err
		}
		var at *struct {
			X float64 `json:"x"`
			Y float64 `json:"y"`
		}
		if err := jsontext.Unmarshal(value.Value, &at); err != nil || at == nil {
			return nil //nolint:nilerr // the button is not there
		}
		if err := a.press(ctx, at.X, at.Y); err != nil {
			return err
		}
		if err := a.idle(ctx, actTime); err != nil {
			return err
		}
	}
	return nil
}

// press presses the button of the mouse, and lets it go.
func (a pageActions) press(ctx context.Context, x, y float64) error {
	for _, kind := range []input.MouseType{input.MousePressed, input.MouseReleased} {
		if err := input.DispatchMouseEvent(kind, x, y).WithButton(input.Left).WithClickCount(1).Do(a.tab.within(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// quote writes a text as one of JavaScript.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text has no error
	}
	return string(b)
}
