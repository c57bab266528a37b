package jsontext

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type inner struct {
	A int `json:"a"`
	B int `json:"b"`
}

type base struct {
	Kind string `json:"kind"`
	URL  string `json:"hidden"`
}

// outer has every kind of field that Unmarshal distinguishes.
type outer struct {
	base
	URL    string           `json:"url"`
	Plain  string           // without a tag
	In     inner            `json:"in"`
	To     *inner           `json:"to,omitempty"`
	List   []inner          `json:"list"`
	Map    map[string]inner `json:"map"`
	Any    any              `json:"any"`
	Raw    json.RawMessage  `json:"raw"`
	At     time.Time        `json:"at"`
	Left   string           `json:"-"`
	Itself *outer           `json:"itself"`
}

func TestUnmarshalTakesMembersOfTheExactNameAlone(t *testing.T) {
	for text, want := range map[string]outer{
		`{"url":"a","URL":"b","Url":"c","uRl":"d","key":1}`: {URL: "a"},
		`{"URL":"b"}`:                                                        {},
		`{"\u0075rl":"a","\u0055rl":"b"}`:                                    {URL: "a"},
		`{"kind":"a","Kind":"b","KIND":1,"\u212aind":"c"}`:                   {base: base{Kind: "a"}},
		`{"Plain":"a","plain":"b"}`:                                          {Plain: "a"},
		`{"in":{"a":1,"A":2},"IN":{"a":3}}`:                                  {In: inner{A: 1}},
		`{"to":{"b":1,"B":2}}`:                                               {To: &inner{B: 1}},
		`{"list":[{"a":1,"A":2},{"A":3},{}]}`:                                {List: []inner{{A: 1}, {}, {}}},
		`{"map":{"x":{"a":1,"A":2},"X":{"A":3}}}`:                            {Map: map[string]inner{"x": {A: 1}, "X": {}}},
		`{"any":{"a":1,"A":2}}`:                                              {Any: map[string]any{"a": 1., "A": 2.}},
		`{"raw":{"a":1,"A":2}}`:                                              {Raw: json.RawMessage(`{"a":1,"A":2}`)},
		`{"at":"2026-01-02T03:04:05Z","AT":"no time"}`:                       {At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		`{"-":"a","Left":"b","small":1,"Small":2}`:                           {},
		`{"itself":{"url":"a","URL":"b","itself":{"Url":"c","in":{"A":2}}}}`: {Itself: &outer{URL: "a", Itself: &outer{}}},
		` null `: {}, `{}`: {}, ` { "url" : "a" , "list" : [ { "A" : 1 } ] } `: {URL: "a", List: []inner{{}}},
	} {
		var got outer
		if err := Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", text, got, err, want)
		}
	}
}

func TestUnmarshalStrictRefusesOtherMembers(t *testing.T) {
	for text, want := range map[string]string{
		`{"url":"a","in":{"a":1}}`:  "",
		`{"URL":"a"}`:               `json: unknown field "URL"`,
		`{"in":{"A":1}}`:            `json: unknown field "A"`,
		`{"list":[{"a":1},{"c":}]}`: "invalid character '}' looking for beginning of value",
		`{"list":[{"a":1,"a":2}]}`:  "duplicate object member name",
		`{"url":"a"}{}`:             "invalid character '{' after top-level value",
	} {
		var got outer
		if err := UnmarshalStrict([]byte(text), &got); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Unmarshal accepts at most what encoding/json accepts, and decodes the same values if all names
// are exact and unique.
func FuzzUnmarshal(f *testing.F) {
	for _, text := range []string{
		`{"url":"a","in":{"a":1},"list":[{"a":1},null],"map":{"x":{"b":2}},"at":"2026-01-02T03:04:05Z","raw":[1]}`,
		`{"URL":01,"url":"x"}`, `{"list":{}}`, `[]`, `"a"`, `{"url":1}`, `{"itself":{"itself":{"url":"\u0061\ud800"}}}`, "{\"\xff\":1}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want outer
		err, wantErr := Unmarshal([]byte(text), &got), json.Unmarshal([]byte(text), &want)
		if err != nil && wantErr == nil {
			t.Errorf("%q is not read: %v", text, err)
		}
		if wantErr == nil && UnmarshalStrict([]byte(text), new(outer)) == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q\ngot  %+v\nwant %+v", text, got, want)
		}
		if !json.Valid([]byte(text)) && err == nil {
			t.Errorf("%q is read", text)
		}
	})
}
