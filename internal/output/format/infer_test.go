package format

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestInferFindsTheNarrowestColumns(t *testing.T) {
	for lines, want := range map[string][]Column{
		``:   nil,
		`{}`: nil,
		`{"b":1,"a":"x","visit":"v","url":"u","kind":"k"}`:          {{"kind", Text, false}, {"url", Text, false}, {"visit", Text, false}, {"b", Integer, false}, {"a", Text, false}},
		`{"a":1} {"a":2.5} {"a":3}`:                                 {{"a", Number, false}},
		`{"a":1} {"a":"x"} {"a":true}`:                              {{"a", Text, false}},
		`{"a":true} {"a":null}`:                                     {{"a", Bool, false}},
		`{"a":null}`:                                                {{"a", Text, false}},
		`{"a":null} {"a":1}`:                                        {{"a", Integer, false}},
		`{"a":"2026-01-02T03:04:05Z"} {"a":"2026-01-02"} {"a":""}`:  {{"a", Time, false}},
		`{"a":"2026-01-02"} {"a":"soon"}`:                           {{"a", Text, false}},
		`{"a":[1]} {"a":[]} {"a":[2.5,null]}`:                       {{"a", Number, true}},
		`{"a":[]} {"a":[1]}`:                                        {{"a", Integer, true}},
		`{"a":[]}`:                                                  {{"a", Text, true}},
		`{"a":[1,"x"]}`:                                             {{"a", Text, true}},
		`{"a":[1]} {"a":["x"]}`:                                     {{"a", Text, true}},
		`{"a":[1]} {"a":1}`:                                         {{"a", JSON, false}},
		`{"a":[{}]} {"a":[1]}`:                                      {{"a", JSON, false}},
		`{"a":{}}`:                                                  {{"a", JSON, false}},
		`{"a":9223372036854775808}`:                                 {{"a", Number, false}},
		`{"a":9007199254740993} {"a":0.5}`:                          {{"a", Number, false}},
		`{"a":9223372036854775809}`:                                 {{"a", JSON, false}},
		`{"\u0061":1} {"a":2} {"c":1} {"b":1}`:                      {{"a", Integer, false}, {"c", Integer, false}, {"b", Integer, false}},
		`{"` + strings.Repeat("x", 300) + `":1,"a":1} {"_more":{}}`: {{"a", Integer, false}, {"_more", JSON, false}},
	} {
		var f Infer
		for line := range strings.SplitSeq(lines, " ") {
			f.Add([]byte(line))
		}
		if got := f.Columns(); !reflect.DeepEqual(got, want) {
			t.Errorf("%.100s\ngot  %v\nwant %v", lines, got, want)
		}
	}
}

func TestInferIsBounded(t *testing.T) {
	var f Infer
	for n := range 10 * maxColumns {
		f.Add(fmt.Appendf(nil, `{"field%d":1}`, n))
	}
	if n := len(f.Columns()); n != maxColumns {
		t.Errorf("%d columns", n)
	}
}
