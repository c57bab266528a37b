package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestObjectIsWhatEncodingJSONReads(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 60_999, time.UTC)
	o := Object{B: []byte("before ")}
	o.Text("text", `a "b" \ c`)
	o.TextSet("empty", "")
	o.Int("int", -3)
	o.Bool("bool", true)
	o.Time("time", at)
	o.Texts("texts", []string{"a", "b\n"})
	o.Texts("none", nil)
	o.Raw("raw", []byte(`[1,2]`))
	want := `before {"text":"a \"b\" \\ c","int":-3,"bool":true,` +
		`"time":"2026-01-02T03:04:05.000060Z","texts":["a","b\n"],"none":[],"raw":[1,2]}`
	if got := string(o.End()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var none Object
	if got := string(none.End()); got != "{}" {
		t.Errorf("an object without members is %s", got)
	}
}

// Any string is encoded on one line, and decodes to the same result as with encoding/json.
func FuzzAppendString(f *testing.F) {
	f.Add("text\nwith \"quotes\" and \\ and \x01 and \u2028 and é and \xff")
	f.Fuzz(func(t *testing.T, s string) {
		line := AppendString(nil, s)
		if strings.ContainsAny(string(line), "\n\r") {
			t.Fatalf("more than one line: %q", line)
		}
		var got string
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); len([]rune(got)) < len([]rune(want)) || strings.ReplaceAll(got, "\ufffd", "") != strings.ReplaceAll(want, "\ufffd", "") {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestMapStringsChangesValuesAndNames(t *testing.T) {
	const text = `{"a": "x", "a:b" : ["x\"y\\", 1, null], "\\": {"a": true}, "u": "\u00e9"}`
	got := string(MapStrings([]byte(text), func(s string) string { return "<" + s + ">" }))
	const want = `{"<a>": "<x>", "<a:b>" : ["<x\"y\\>", 1, null], "<\\>": {"<a>": true}, "<u>": "<é>"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Members whose names become equal stay distinct; a duplicate name stays duplicate.
func TestMapStringsKeepsNamesApart(t *testing.T) {
	const text = `{"a":1,"b":{"a":2,"c":3},"same":4,"a":5,"same (2)":6}`
	got := string(MapStrings([]byte(text), func(s string) string {
		if len(s) == 1 {
			return "same"
		}
		return s
	}))
	const want = `{"same":1,"same (2)":{"same":2,"same (2)":3},"same (3)":4,"same":5,"same (2) (2)":6}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Valid JSON stays valid.
func FuzzMapStrings(f *testing.F) {
	f.Add(`{"a": "x", "b": ["\u00e9\\"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		got := MapStrings([]byte(text), func(s string) string { return s + "[\"masked\"]" })
		if json.Valid([]byte(text)) && !json.Valid(got) {
			t.Errorf("%s became %s", text, got)
		}
	})
}
