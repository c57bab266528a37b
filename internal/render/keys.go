package render

import (
	"context"

	"github.com/chromedp/cdproto/input"
)

// key is a key of a keyboard, as in the events of a page (UI Events, KeyboardEvent).
type key struct {
	key, text string // text is the typed text
	number    int64  // KeyboardEvent.keyCode
}

// keys are the keys of crawlspec.RenderKeys, by their codes.
var keys = map[string]key{
	"Enter": {"Enter", "\r", 13}, "Tab": {"Tab", "", 9}, "Escape": {"Escape", "", 27}, "Space": {" ", " ", 32},
	"Backspace": {"Backspace", "", 8}, "Delete": {"Delete", "", 46},
	"ArrowLeft": {"ArrowLeft", "", 37}, "ArrowUp": {"ArrowUp", "", 38}, "ArrowRight": {"ArrowRight", "", 39}, "ArrowDown": {"ArrowDown", "", 40},
	"PageUp": {"PageUp", "", 33}, "PageDown": {"PageDown", "", 34}, "End": {"End", "", 35}, "Home": {"Home", "", 36},
}

// pressKey presses and releases a key.
func (a pageActions) pressKey(ctx context.Context, code string, k key) error {
	for _, kind := range []input.KeyType{input.KeyDown, input.KeyUp} {
		event := input.DispatchKeyEvent(kind).WithKey(k.key).WithCode(code).WithWindowsVirtualKeyCode(k.number)
		if kind == input.KeyDown {
			event = event.WithText(k.text)
		}
		if err := event.Do(a.tab.within(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// clickAt moves the mouse to a position, and presses and releases its button.
func (a pageActions) clickAt(ctx context.Context, x, y float64) error {
	for _, kind := range []input.MouseType{input.MouseMoved, input.MousePressed, input.MouseReleased} {
		event := input.DispatchMouseEvent(kind, x, y)
		if kind != input.MouseMoved {
			event = event.WithButton(input.Left).WithClickCount(1)
		}
		if err := event.Do(a.tab.within(ctx)); err != nil {
			return err
		}
	}
	return nil
}
