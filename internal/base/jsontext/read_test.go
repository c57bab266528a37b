package jsontext

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// sample has every kind of member that a Reader knows.
type sample struct {
	Text  string               `json:"text"`
	Int   int                  `json:"int"`
	Long  int64                `json:"long"`
	Uint  uint64               `json:"uint"`
	Yes   bool                 `json:"yes"`
	Time  time.Time            `json:"time"`
	Inner struct{ A, B int }   `json:"inner"`
	List  []struct{ U string } `json:"list"`
	Lists map[string][]string  `json:"lists"`
	Texts map[string]string    `json:"texts"`
	Last  string               `json:"last"`
}

func (s *sample) read(r *Reader) {
	r.Text("text", &s.Text)
	r.Int("int", &s.Int)
	r.Int64("long", &s.Long)
	r.Uint64("uint", &s.Uint)
	r.Bool("yes", &s.Yes)
	r.Value("time", s.Time.UnmarshalJSON)
	r.Object("inner", func() {
		r.Int("A", &s.Inner.A)
		r.Int("B", &s.Inner.B)
	})
	r.Objects("list", func() {
		var one struct{ U string }
		r.Text("U", &one.U)
		s.List = append(s.List, one)
	})
	r.Lists("lists", &s.Lists)
	r.Texts("texts", &s.Texts)
	r.Text("last", &s.Last)
}

const full = `{"text":"a \"b\" é","int":-3,"long":9007199254740993,"uint":18446744073709551615,"yes":true,` +
	`"time":"2026-01-02T03:04:05.000000006Z","inner":{"A":1,"B":0},"list":[{"U":"x"},{"U":""}],` +
	`"lists":{"Etag":["\"1\"","b"],"É":["c"]},"texts":{"a":"\"b\"","É":""},"last":"z"}`

func TestReaderReadsWhatObjectWrites(t *testing.T) {
	for _, text := range []string{full, `{"text":""}`, `{"int":0}`, `{"last":"z"}`, `{"inner":{"B":2},"last":"\u00e9"}`} {
		var s sample
		r := NewReader([]byte(text))
		if s.read(&r); !r.Done() {
			t.Errorf("%s: not read", text)
		}
	}
}

// What a Reader does not know is left to encoding/json.
func TestReaderLeavesTheRest(t *testing.T) {
	for _, text := range []string{
		``, `{`, `}`, `{}`, `null`, `[]`, `{"text":"a"} `, ` {"text":"a"}`, `{"text": "a"}`, `{"text":"a"}}`, `{"text":"a"`, `{"text":"a}`,
		`{"text":null}`, `{"text":1}`, `{"other":1}`, `{"last":"a","text":"b"}`, `{"text":"a","text":"b"}`, `{"Text":"a"}`, `{"text":"a",}`,
		`{"int":01}`, `{"int":1.0}`, `{"int":1e3}`, `{"int":-}`, `{"int":+1}`, `{"int":9223372036854775808}`, `{"uint":-1}`,
		`{"yes":false}`, `{"yes":tru}`, `{"time":"2026"}`, `{"time":1}`, `{"text":"\x"}`, "{\"text\":\"a\nb\"}",
		`{"inner":{}}`, `{"inner":{"A":1}`, `{"inner":1}`, `{"list":[]}`, `{"list":[{"U":"x"},]}`, `{"list":[1]}`, `{"list":{"U":"x"}}`,
		`{"lists":{}}`, `{"lists":{"a":[]}}`, `{"lists":{"a":[1]}}`, `{"lists":{"a":"b"}}`, `{"lists":{"a":["b"],}}`, `{"lists":{"a" :["b"]}}`,
		`{"texts":{}}`, `{"texts":{"a":1}}`, `{"texts":{"a":["b"]}}`, `{"texts":{"a":"b",}}`, `{"texts":{"a" :"b"}}`, `{"texts":{"a":"b"}`, `{"texts":"b"}`,
	} {
		var s sample
		r := NewReader([]byte(text))
		if s.read(&r); r.Done() {
			t.Errorf("%s: read as %+v", text, s)
		}
	}
}

// What a Reader reads, encoding/json reads as the same.
func FuzzReader(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`{"text":"\ud800","lists":{"a":["b"],"a":["c"]}}`))
	f.Add([]byte(`{"texts":{"a":"b","a":"\ud800"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want sample
		r := NewReader(text)
		if got.read(&r); !r.Done() {
			return
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q was read, but %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q\ngot  %+v\nwant %+v", text, got, want)
		}
	})
}
