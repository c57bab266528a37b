package jsontext

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestMembersAreThoseOfTheObject(t *testing.T) {
	deep := strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000)
	for text, want := range map[string][]string{
		`{}`:                               nil,
		` { } `:                            nil,
		`{"a":1}`:                          {`a`, `1`},
		`{"a":1,"b":"x"}`:                  {`a`, `1`, `b`, `"x"`},
		"{ \"a\" :\t-1.5e3 ,\n\"b\" : {}}": {`a`, `-1.5e3`, `b`, `{}`},
		`{"a\"":"}\\","b":"\\\"]"}`:        {`a\"`, `"}\\"`, `b`, `"\\\"]"`},
		`{"a":[{"]":"}"}],"b":null}`:       {`a`, `[{"]":"}"}]`, `b`, `null`},
		`{"a":` + deep + `}`:               {`a`, deep},
	} {
		m := MembersOf([]byte(text))
		var got []string
		for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
			got = append(got, string(name), string(value))
		}
		if !reflect.DeepEqual(got, want) || m.Bad() {
			t.Errorf("%.60s: %.80q", text, got)
		}
	}
}

// Text that is not an object is reported as such, and the iteration ends.
func TestMembersOfWhatIsNoObject(t *testing.T) {
	for _, text := range []string{
		``, `1`, `"a"`, `{`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":"`, `{"a":[`, `{"a":[1}`, `{"a":"\"}`, `{a:1}`, `{"a" 1}`, `{"a":}`, `{}{}`, `{"a":1}x`,
	} {
		m := MembersOf([]byte(text))
		for _, _, ok := m.Next(); ok; _, _, ok = m.Next() {
		}
		if !m.Bad() {
			t.Errorf("%s is taken for an object", text)
		}
	}
}

// Text that encoding/json decodes is split into the same values.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{`{"a":1,"b":[1,"\u00e9\ud83d\ude00\ud800",{"c":null}]}`, `{"\u0061\n":"\\","x":-0}`, `[1,{"a":[]}]`, `{"":""}`, "{\"a\":\"\xff\"}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]any
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			m := MembersOf([]byte(text))
			for range len(text) + 1 { // it must end
				if _, _, ok := m.Next(); !ok {
					return
				}
			}
			t.Fatalf("more members than bytes in %q", text)
		}
		got := make(map[string]any)
		m := MembersOf([]byte(text))
		for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
			got[valid(string(AppendText(nil, name)))] = take(t, value)
		}
		if m.Bad() || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is taken for %#v, not %#v", text, got, want)
		}
	})
}

// take decodes a value with the functions of this package, as far as they go.
func take(t *testing.T, value []byte) any {
	t.Helper()
	switch value[0] {
	case '"':
		return valid(string(AppendText(nil, value[1:len(value)-1])))
	case '[':
		list := []any{}
		m := MembersOf(value)
		for e, ok := m.Element(); ok; e, ok = m.Element() {
			list = append(list, take(t, e))
		}
		return list
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		t.Fatal(fmt.Errorf("%q: %w", value, err))
	}
	return v
}

// valid replaces invalid UTF-8 as encoding/json does.
func valid(s string) string { return string([]rune(s)) }
