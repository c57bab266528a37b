package render

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/runtime"

	"seine/internal/base/humanize"
	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
)

// pageActions performs the actions of the spec on a page.
type pageActions struct {
	*visit
	page *Page
}

// unmet is the reason why an action failed, for people.
type unmet string

func (u unmet) Error() string { return string(u) }

// isCover reports whether another element covers the element.
func (u unmet) isCover() bool { return strings.HasPrefix(string(u), "covered") }

// run performs the actions one after the other, and records their results in the page. A failed
// action has no other effect on the page.
func (a pageActions) run(ctx context.Context) error {
	for i := range a.job.How.Actions {
		how := &a.job.How.Actions[i]
		if how.Wait == nil {
			a.ignoreNavigation()
		}
		did, err := a.doWithin(ctx, how)
		if a.ctx.Err() != nil || a.tab.browser.ended() {
			return errBrowserGone
		}
		name := fmt.Sprintf("%d %s: ", i+1, how)
		if err != nil {
			did = reason(err)
			a.page.Cut = strings.TrimPrefix(a.page.Cut+"; action "+name+did, "; ")
		}
		if to := a.takeIgnored(); to != "" {
			did += "; the page stays, and does not lead to " + to
		}
		a.page.Actions = append(a.page.Actions, name+did)
	}
	a.ignoreNavigation()
	if len(a.page.Actions) > 0 && a.job.How.Until == crawlspec.UntilIdle {
		return a.fill(ctx) // the page may be empty until an action fills it
	}
	return nil
}

// ignoreNavigation makes later navigations not count as redirects of the page.
func (a pageActions) ignoreNavigation() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled = true
}

// takeIgnored returns and clears the URL of the last ignored navigation, "" if there was none.
func (a pageActions) takeIgnored() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	to := a.ignored
	a.ignored = ""
	return to
}

// reason returns the text of an error for people.
func reason(err error) string {
	var thrown *runtime.ExceptionDetails
	if errors.As(err, &thrown) {
		return thrownText(thrown)
	}
	return err.Error()
}

// doWithin performs an action within its timeout.
func (a pageActions) doWithin(ctx context.Context, how *crawlspec.RenderAction) (did string, err error) {
	most := cmp.Or(how.Timeout, a.job.How.Timeout)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(most))
	defer cancel()
	did, err = a.do(ctx, how)
	if err != nil && ctx.Err() != nil && !errors.As(err, new(unmet)) {
		err = unmet("not done within " + most.String())
	}
	return did, err
}

// do performs an action, and waits until the page has reacted.
func (a pageActions) do(ctx context.Context, how *crawlspec.RenderAction) (did string, err error) {
	began := time.Now()
	switch how.Kind() {
	case "wait":
		err = a.waitFor(ctx, how.Wait)
		return "waited " + time.Since(began).Round(time.Millisecond).String(), err
	case "screenshot":
		return "taken", a.screenshot(ctx, a.page)
	case "click":
		did, err = a.click(ctx, how)
	case "scroll":
		did, err = a.scroll(ctx, how)
	case "type":
		did, err = a.typeText(ctx, how)
	case "press":
		did, err = "pressed", a.pressKey(ctx, how.Press, keys[how.Press])
	case "script":
		did = "ran"
		_, err = a.tab.evaluate(ctx, "await (async () => {"+how.Script+"\n})(), true")
	}
	if err == nil {
		a.rest(ctx, idleTime)
		a.awaitTimers(ctx)
	}
	return did, err
}

// timersTime is how long to wait for timers of the page after an action, which may take effect a
// moment later.
const timersTime = time.Second

// awaitTimers waits for timers that are due soon, and for their effects. The time passes in the
// page, as in pause.
func (a pageActions) awaitTimers(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, pauseFactor*timersTime)
	defer cancel()
	if waited, err := a.tab.evaluate(within, "await window.seine?.awaitTimers("+milliseconds(timersTime)+")"); waited || err != nil {
		a.rest(ctx, idleTime)
	}
}

// actTime is how long nothing may be in progress before one step of an action counts as done.
const actTime = idleTime / 2

// findTime is how long to wait for an element that an action needs, and the longest wait for the
// page after a step.
const findTime = 5 * time.Second

// rest waits until the page has reacted to a step of an action, up to findTime.
func (a pageActions) rest(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	_ = a.idle(ctx, d)
}

// evaluateInto evaluates a script in the page and decodes its value.
func (a pageActions) evaluateInto(ctx context.Context, script string, into any) error {
	value, thrown, err := runtime.Evaluate(script).WithReturnByValue(true).Do(a.tab.within(ctx))
	switch {
	case err != nil:
		return err
	case thrown != nil:
		return thrown
	}
	return jsontext.Unmarshal(value.Value, into)
}

// typeText clicks a field and replaces its text.
func (a pageActions) typeText(ctx context.Context, how *crawlspec.RenderAction) (string, error) {
	if err := a.clickOne(ctx, found(how.Type), findTime); err != nil {
		return "", err
	}
	takes := false
	if err := a.evaluateInto(ctx, strings.Replace(selectAll, "ELEMENT", found(how.Type), 1), &takes); err != nil {
		return "", err
	}
	if !takes {
		return "", unmet("it takes no text")
	}
	for _, r := range how.Text {
		code, k := "", key{string(r), string(r), 0}
		if r == '\n' {
			code, k = "Enter", keys["Enter"]
		}
		if err := a.pressKey(ctx, code, k); err != nil {
			return "", err
		}
	}
	return "typed " + humanize.Plural(utf8.RuneCountInString(how.Text), "character"), nil
}

// selectAll selects the text of a field, if it accepts text.
const selectAll = `(() => {
	const e = ELEMENT
	if (!e?.matches('input, textarea, [contenteditable]') || e.readOnly) return false
	e.focus()
	e.select ? e.select() : document.execCommand('selectAll')
	return true
})()`

// click clicks an element once, or all elements that match now, or the first match until there is
// none.
func (a pageActions) click(ctx context.Context, how *crawlspec.RenderAction) (string, error) {
	most, element, of := max(how.Times, 1), found(how.Click), ""
	wait, between := findTime, idleTime
	if how.All {
		if err := a.evaluateInto(ctx, "(window.seineFound = [...document.querySelectorAll("+quote(how.Click)+")]).length", &most); err != nil {
			return "", err
		}
		of, between = fmt.Sprintf(" of %d", most), actTime
	}
	if how.All || how.Times > 0 {
		wait = 0
	}
	n := 0
	for i := range min(most, crawlspec.MaxClicks) {
		if how.All {
			element = fmt.Sprintf("window.seineFound?.[%d]", i)
		}
		if n > 0 {
			a.rest(ctx, between)
		}
		err, why := a.clickOne(ctx, element, wait), unmet("")
		switch missing := errors.As(err, &why) && !why.isCover(); {
		case err == nil:
			n++
		case missing && how.All:
		case missing && how.Times > 0:
			return fmt.Sprintf("clicked %d, then %s", n, why), nil
		default:
			return "", fmt.Errorf("clicked %d%s, then %w", n, of, err)
		}
	}
	return fmt.Sprintf("clicked %d%s", n, of), nil
}

// found returns JavaScript for the first element that matches a selector.
func found(selector string) string { return "document.querySelector(" + quote(selector) + ")" }

// spot is the position for a click on an element, in CSS pixels, or the reason why it cannot be
// clicked.
type spot struct {
	X   float64 `json:"x"`
	Y   float64 `json:"y"`
	Why unmet   `json:"why"`
}

// clickOne clicks an element with the mouse, since pages can detect clicks by scripts. It waits
// until the element is visible, enabled, at rest and not covered: up to the given time, but up to
// findTime for one that moves or is covered.
func (a pageActions) clickOne(ctx context.Context, element string, wait time.Duration) error {
	why := unmet("")
	for began, last := time.Now(), (spot{Why: "?"}); ; {
		now := spot{}
		err := a.evaluateInto(ctx, strings.Replace(lookFor, "ELEMENT", element, 1), &now)
		switch {
		case err != nil && why != "" && ctx.Err() != nil:
			return why
		case err != nil:
			return err
		case now.Why == "" && now == last:
			return a.clickAt(ctx, now.X, now.Y)
		}
		most := wait
		if why = now.Why; why == "" || why.isCover() {
			most, why = findTime, cmp.Or(why, "it keeps moving")
		}
		if time.Since(began) >= most || sleep.For(ctx, pollTime) != nil {
			return why
		}
		last = now
	}
}

// lookFor scrolls an element into view, and yields the position for a click, or the reason why it
// cannot be clicked.
const lookFor = `(() => {
	const e = ELEMENT
	if (!e?.isConnected) return {why: 'not found'}
	if (!e.checkVisibility({visibilityProperty: true})) return {why: 'not visible'}
	if (e.matches(':disabled')) return {why: 'disabled'}
	e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'})
	const r = [...e.getClientRects()].find(r => r.width > 0 && r.height > 0)
	if (!r) return {why: 'not visible'}
	const x = r.x + r.width / 2, y = r.y + r.height / 2
	let top = e.getRootNode().elementFromPoint(x, y)
	if (!top) return {why: 'outside the window'}
	if (e.contains(top) || top.closest('label')?.control === e) return {x, y}
	while (top.parentElement && !top.parentElement.contains(e)) top = top.parentElement
	return {why: 'covered by ' + [top.localName + (top.id && '#' + top.id), ...top.classList].join('.').slice(0, 100)}
})()`

// quote returns a text as a JavaScript literal.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}
