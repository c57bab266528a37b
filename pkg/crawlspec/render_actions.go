package crawlspec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// RenderAction is something that is done with a page: one of Wait, Click, Type, Press, Scroll, Script and Screenshot.
type RenderAction struct {
	// Wait waits until all that is given holds.
	Wait *RenderWait `json:"wait,omitempty"`
	// Click clicks the first element that this CSS selector finds, once it is visible, enabled and not covered.
	Click string `json:"click,omitempty"`
	// All clicks each element that is found now, once; there may be none.
	All bool `json:"all,omitempty"`
	// Times clicks the first element again and again while there is one, 1 to 200 times at most; there may be none.
	Times int `json:"times,omitempty"`
	// Type clicks the field that this CSS selector finds, and types Text in the place of what it has.
	Type string `json:"type,omitempty"`
	Text string `json:"text,omitempty"`
	// Press presses a key where the focus is, of RenderKeys.
	Press string `json:"press,omitempty"`
	// Scroll is how many screens are scrolled down at most, 1 to 200. It ends where nothing more comes.
	Scroll int `json:"scroll,omitempty"`
	// In is a CSS selector of the element that Scroll scrolls, in the place of the page.
	In string `json:"in,omitempty"`
	// Script is JavaScript that is run; a promise is waited for.
	Script string `json:"script,omitempty"`
	// Screenshot keeps a PNG of the whole page, as it is then, in the archive.
	Screenshot bool `json:"screenshot,omitempty"`
	// Timeout bounds the action. Without it, an element is waited for 5s, and all else until the timeout of the page.
	Timeout Duration `json:"timeout,omitempty"`
}

// RenderWait waits: until all that is given holds, one after the other. In YAML and JSON, a CSS selector stands for Selector.
type RenderWait struct {
	// Until is an event of the page to wait for first.
	Until RenderUntil `json:"until,omitempty"`
	// Selector is a CSS selector that must find something.
	Selector string `json:"selector,omitempty"`
	// Expression is one of JavaScript that must become true; a promise is waited for.
	Expression string `json:"expression,omitempty"`
	// Time is waited after that.
	Time Duration `json:"time,omitempty"`
}

// UnmarshalJSON accepts keys, or a CSS selector as their short form.
func (w *RenderWait) UnmarshalJSON(b []byte) error {
	type plain RenderWait
	return textOr(b, &w.Selector, (*plain)(w))
}

// RenderKeys are the keys that an action can press.
var RenderKeys = []string{
	"Enter", "Tab", "Escape", "Space", "Backspace", "Delete", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End",
}

// actionKinds are the keys that define an action; optionsOf maps the other keys, except timeout, to
// their actions.
var (
	actionKinds = []string{"wait", "click", "type", "press", "scroll", "script", "screenshot"}
	optionsOf   = map[string]string{"all": "click", "times": "click", "text": "type", "in": "scroll"}
)

// given returns the keys that the action has.
func (a *RenderAction) given() (keys []string) {
	v := reflect.ValueOf(*a)
	for i := range v.NumField() {
		if key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); !v.Field(i).IsZero() {
			keys = append(keys, key)
		}
	}
	return keys
}

// Kind returns the key that defines the action, "" if there is none, or several.
func (a *RenderAction) Kind() string {
	kinds := slices.DeleteFunc(a.given(), func(key string) bool { return !slices.Contains(actionKinds, key) })
	if len(kinds) != 1 {
		return ""
	}
	return kinds[0]
}

// String returns the action and its target, as in "click button.more".
func (a *RenderAction) String() string {
	text := a.Kind() + " " + a.Click + a.Type + a.Press + a.In
	if a.Wait != nil {
		text += a.Wait.Selector + a.Wait.Expression
	}
	text = strings.TrimSpace(text)
	if len(text) > maxActionName {
		text = strings.ToValidUTF8(text[:maxActionName], "") + "…"
	}
	return text
}

// Limits of actions.
const (
	MaxScroll     = 200
	MaxClicks     = 200
	maxActions    = 50
	maxActionName = 100 // bytes
)

func (r *Render) checkActions(p *Problems) {
	if len(r.Actions) > maxActions {
		p.Addf("render.actions", "%d actions: at most %d", len(r.Actions), maxActions)
		return
	}
	for i := range r.Actions {
		r.checkAction(p, fmt.Sprintf("render.actions[%d]", i), &r.Actions[i])
	}
}

func (r *Render) checkAction(p *Problems, path string, a *RenderAction) {
	kind := a.Kind()
	if kind == "" {
		p.Addf(path, "must have one of wait, click, type, press, scroll, script and screenshot")
	}
	for _, key := range a.given() {
		if of := optionsOf[key]; of != "" && kind != "" && kind != of {
			p.Addf(path+"."+key, "is only for %s", of)
		}
	}
	if a.Wait != nil && *a.Wait == (RenderWait{}) {
		p.Addf(path+".wait", "must have one of until, selector, expression and time")
	}
	if a.Wait != nil {
		r.checkWait(p, path+".wait", a.Wait)
	}
	if a.Type != "" && a.Text == "" {
		p.Addf(path+".text", "is missing: say what is typed")
	}
	if a.Press != "" {
		p.oneOf(path+".press", a.Press, RenderKeys)
	}
	if a.All && a.Times != 0 {
		p.Addf(path+".times", "must not be beside all, which clicks each element once")
	}
	if a.Times != 0 {
		between(p, path+".times", a.Times, 1, MaxClicks)
	}
	if a.Scroll != 0 {
		between(p, path+".scroll", a.Scroll, 1, MaxScroll)
	}
	p.long(path+".click", a.Click)
	p.long(path+".type", a.Type)
	p.long(path+".text", a.Text)
	p.long(path+".in", a.In)
	p.noSecret(path+".text", a.Text)
	p.script(path+".script", a.Script)
	if a.Timeout < 0 || a.Timeout > r.Timeout {
		p.Addf(path+".timeout", "%s: must be from 0s to the timeout of rendering, which is %s", a.Timeout, r.Timeout)
	}
}

func (r *Render) checkWait(p *Problems, path string, w *RenderWait) {
	if w.Until != "" {
		p.oneOf(path+".until", string(w.Until), renderUntils)
	}
	p.long(path+".selector", w.Selector)
	p.long(path+".expression", w.Expression)
	p.noSecret(path+".expression", w.Expression)
	if w.Time < 0 || w.Time > 0 && w.Time >= r.Timeout {
		p.Addf(path+".time", "%s: must be from 0s to less than the timeout of rendering, which is %s", w.Time, r.Timeout)
	}
}
