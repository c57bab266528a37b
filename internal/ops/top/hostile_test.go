package top

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"seine/internal/base/safeprint"
	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
)

const hostileText = "\x1b]0;owned\a\x1b[2J\r\n\u009b31m\u202e\x9b\u2028x"

// infect appends hostile text to every string below v, and fills empty values.
func infect(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + hostileText)
	case reflect.Pointer:
		if v.IsNil() && depth < 6 {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			infect(v.Elem(), depth+1)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				infect(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && depth < 6 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			infect(v.Index(i), depth+1)
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return
		}
		infected := reflect.MakeMap(v.Type())
		for k, e := range v.Seq2() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(e)
			infect(value, depth+1)
			infected.SetMapIndex(reflect.ValueOf(k.String()+hostileText).Convert(v.Type().Key()), value)
		}
		v.Set(infected)
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[error]() {
			v.Set(reflect.ValueOf(errors.New(hostileText)))
		}
	default: // has no text
	}
}

// wantHarmless fails if a line has anything but plain text and style codes.
func wantHarmless(t *testing.T, what string, m Model) {
	t.Helper()
	for _, l := range m.lines() {
		bare := ownCodes().ReplaceAllString(l, "")
		if got := safeprint.Text(bare); got != bare {
			t.Fatalf("%s: line %q", what, l)
		}
	}
}

// No field on the screen reaches the terminal unescaped.
func TestView_HostileTextInEveryField_NothingForTheTerminalToObey(t *testing.T) {
	o := busy()
	infect(reflect.ValueOf(o).Elem(), 0)
	var host Host
	infect(reflect.ValueOf(&host).Elem(), 0)
	for _, keys := range [][]string{
		nil, {"?"}, {"enter"}, {"c"}, {"/", "x"}, {"/", "enter"}, {"p"}, {"tab"}, {"tab", "enter"}, {"tab", "s", "enter"}, {"tab", "tab"}, {"tab", "tab", "enter"},
		{"tab", "tab", "end", "enter"},
	} {
		for _, size := range []Size{{Width: 60, Height: 9}, {Width: 80, Height: 24}, {Width: 140, Height: 50}, {Width: 210, Height: 60}} {
			m := New("nats://x"+hostileText, "crawl"+hostileText, time.Second, noon)
			m = after(m, size, Looked{Overview: o, Connected: true})
			for _, k := range keys {
				m = after(m, Key(k))
			}
			what := fmt.Sprintf("%v after %q", size, keys)
			wantHarmless(t, what, m)
			m.filter += hostileText
			wantHarmless(t, what+", filtered", m)
			m.filter = ""
			m = after(m, HostLooked{Name: m.host.name, Host: &host})
			wantHarmless(t, what+", host", m)
			wantHarmless(t, what+", host failed", after(m, HostLooked{Name: m.host.name, Err: errors.New(hostileText)}))
			steer := Steer{Crawls: []string{hostileText}, Host: hostileText, State: crawlspec.Paused}
			wantHarmless(t, what+", steered", after(m, Steered{steer, nil}))
			wantHarmless(t, what+", not steered", after(m, Steered{steer, errors.New(hostileText)}))
			wantHarmless(t, what+", no answer", after(m, Looked{Err: errors.New(hostileText)}))
			wantHarmless(t, what+", stale", after(m, Looked{Overview: &overview.Overview{At: noon.Add(-time.Hour), Crawls: o.Crawls}, Err: errors.New(hostileText), Connected: true}))
		}
	}
}

// The final check of the screen escapes what a line forgot to escape, and keeps the colours.
func TestGuard_LineWithHostileText_OwnCodesStay(t *testing.T) {
	line := bad.of("a\x1b[2Jb") + chosen.of(faint.of("c\u202e")) + "\x1b[31;5m\n"
	got := guard(line)
	want := bad.of(`a\x1b[2Jb`) + chosen.of(faint.of(`c\u202e`)) + `\x1b[31;5m\n`
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if rest := strings.Count(ownCodes().ReplaceAllString(got, ""), "\x1b"); rest > 0 {
		t.Errorf("%d escapes are left in %q", rest, got)
	}
}
