package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// everyType has a column of each type, named after it.
var everyType = []Column{
	{"text", Text, false}, {"integer", Integer, false}, {"number", Number, false}, {"bool", Bool, false},
	{"time", Time, false}, {"json", JSON, false}, {"texts", Text, true}, {"integers", Integer, true},
	{"numbers", Number, true}, {"bools", Bool, true}, {"times", Time, true},
}

// tabular are the formats with columns, with a decoder for each.
var tabular = map[string]func(testing.TB, []byte, []Column) []decoded{"csv": readCSV, "parquet": readParquet}

// Each value is in its column or in More.
func TestValuesAreInTheirColumnOrInMore(t *testing.T) {
	for name, read := range tabular {
		t.Run(name, func(t *testing.T) {
			f := newFormat(t, name, with(everyType))
			for line, more := range map[string]string{
				`{}`: ``,
				`{"text":"a","integer":1,"number":1.5,"bool":true,"time":"2026-01-02T03:04:05.678901Z","json":{"a":[1]}}`: ``,
				`{"text":"","integer":-9223372036854775808,"number":1e308,"bool":false,"time":"2026-01-02","json":"a"}`:   ``,
				`{"json":"a"}`: ``, `{"json":1}`: ``, `{"json":true}`: ``, `{"json":[]}`: ``,
				`{"text":"é\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t"}`:                                                            ``,
				`{"text":null,"integer":null,"number":null,"bool":null,"time":null,"json":null,"texts":null}`:               ``,
				`{"texts":["a","",null],"integers":[1,null],"numbers":[1,2.5],"bools":[true,false],"times":["2026-01-02"]}`: ``,
				`{"texts":[],"integers":[],"numbers":[null]}`:                                                               ``,
				`{"time":"2026-01-02T03:04:05.123456789+02:00"}`:                                                            ``,
				`{"time":""}`:                          ``,
				`{"other":1,"another":{"a":"\u0061"}}`: `{"other":1,"another":{"a":"\u0061"}}`,
				`{"text":1,"integer":"1","number":"1","bool":0,"time":"soon"}`: `{"integer":"1","number":"1","bool":0,"time":"soon"}`,
				`{"text":["a"],"texts":"a","integer":[1]}`:                     `{"text":["a"],"texts":"a","integer":[1]}`,
				`{"integer":1.5,"number":1e999}`:                               `{"integer":1.5,"number":1e999}`,
				`{"integer":9223372036854775808}`:                              `{"integer":9223372036854775808}`,
				`{"number":9007199254740993}`:                                  `{"number":9007199254740993}`,
				`{"number":9007199254740992}`:                                  ``,
				`{"texts":["a",1.50],"integers":[1,[2]],"bools":[null,"true"],"times":["2026-01-02","soon"]}`: `{"integers":[1,[2]],"bools":[null,"true"],"times":["2026-01-02","soon"]}`,
				`{"_more":{"a":1}}`:                               `{"_more":{"a":1}}`,
				`{"\u0074ext":"a"}`:                               ``,
				`{"text":"a,b\nc","json":"=1"}`:                   ``,
				"{\"text\":\"\xff\",\"x\":\"\xff\"}":              `{"x":"` + "\ufffd" + `"}`,
				`{"bools":[],"json":null,"time":"2026-13-01"}`:    `{"time":"2026-13-01"}`,
				`{"Text":"a","TEXT":"b","text":"c"}`:              `{"Text":"a","TEXT":"b"}`,
				`{"number":-0,"integer":0}`:                       ``,
				`{"json":{"b":1,"a":2}, "text" : "spaces"}`:       ``,
				`{"text":"` + strings.Repeat("x", 300<<10) + `"}`: ``,
			} {
				got := read(t, encode(t, f, linesOf(line)...), everyType)
				if len(got) != 1 {
					t.Fatalf("%.100s: %d records", line, len(got))
				}
				wantRecord(t, everyType, string([]rune(line)), got[0])
				text := ""
				if m, ok := got[0][More]; ok {
					text = string(compact(t, m))
				}
				if more != "" {
					more = string(compact(t, decode(t, more)))
				}
				if text != more {
					t.Errorf("%.100s: in %s is %s, want %s", line, More, text, more)
				}
			}
		})
	}
}

func compact(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	fatal(t, err)
	return b
}

// Of members with the same name, the last is in its column, as for other readers, and the others
// are in More.
func TestLastMemberOfANameIsInItsColumn(t *testing.T) {
	for name, read := range map[string]func(testing.TB, []byte, []Column) []decoded{"csv": readCSV, "parquet": rowsOf} {
		t.Run(name, func(t *testing.T) {
			lines := linesOf(`{"text":"a","integer":1,"text":"b"}`, `{"integer":1,"integer":"x"}`, `{"text":"a","text":null}`)
			got := read(t, encode(t, newFormat(t, name, with(everyType)), lines...), everyType)
			for i, want := range []string{`{"text":"a"}`, `{"integer":"x"}`, `{"text":"a"}`} {
				if more := string(compact(t, got[i][More])); more != want {
					t.Errorf("record %d: in %s is %s, want %s", i, More, more, want)
				}
			}
			if got[0]["text"] != "b" || got[1]["integer"] != nil || got[2]["text"] != nil {
				t.Errorf("%v", got)
			}
		})
	}
}

// A faulty producer may send data that is not JSON. It is kept, and the writer continues.
func TestWhatIsNoRecordIsKept(t *testing.T) {
	for name, read := range tabular {
		for _, line := range []string{``, `x`, `[1]`, `{"text":"a"`, `{"text":"a","integer":}`, `{"text":"a"}}`, "\xff\x00"} {
			got := read(t, encode(t, newFormat(t, name, with(everyType)), linesOf(line)...), everyType)
			if len(got) != 1 || len(got[0]) != 1 || got[0][More] != string([]rune(line)) {
				t.Errorf("%s: %q becomes %#v", name, line, got)
			}
		}
	}
}

// The host of a URL becomes a column, which is not a member of the record that is read back. A
// field of that name stays.
func TestHostIsAColumn(t *testing.T) {
	own := []Column{{Name: "url"}, {Name: "a"}, {Name: Host}}
	for name, read := range tabular {
		for line, want := range map[string]any{
			`{"url":"https://a.example:81/\"","a":"b"}`: "a.example:81", `{"url":"","a":"b"}`: nil, `{"url":1}`: nil, `{"a":"b"}`: nil,
			`{"url":"https://a.example/","host":"other"}`: "other",
		} {
			columns := WithHost([]Column{{Name: "url"}, {Name: "a"}})
			chunk := encode(t, newFormat(t, name, with(columns)), linesOf(line)...)
			if got := read(t, chunk, columns); got[0][Host] != want {
				t.Errorf("%s: %s: host %v, want %v", name, line, got[0][Host], want)
			}
			if name != "parquet" {
				continue
			}
			fatal(t, rowsIn(bytes.NewReader(chunk), func(back []byte) error {
				if !reflect.DeepEqual(decode(t, string(back)), decode(t, strings.Replace(line, ":1}", `:"1"}`, 1))) {
					t.Errorf("%s comes back as %s", line, back)
				}
				return nil
			}))
		}
	}
	if got := WithHost(own); !reflect.DeepEqual(got, own) {
		t.Errorf("%v", got)
	}
}

// Columns with equal names are merged. Members whose column name is reserved, or beyond the maximum
// number of columns, are in More.
func TestColumnsThatCannotBe(t *testing.T) {
	columns := []Column{{Name: "a"}, {Name: ""}, {Name: More}, {Name: "a", Type: Integer}}
	for n := range 2 * maxColumns {
		columns = append(columns, Column{Name: fmt.Sprint("c", n)})
	}
	last := columns[len(columns)-1].Name
	line := fmt.Sprintf(`{"a":"x","":"y","c0":"first","%s":"last"}`, last)
	for name, read := range tabular {
		got := read(t, encode(t, newFormat(t, name, with(columns)), linesOf(line)...), columns)
		wantRecord(t, columns, line, got[0])
		if got[0]["a"] != "x" || got[0]["c0"] != "first" || got[0][last] != nil {
			t.Errorf("%s: %#v", name, got[0])
		}
	}
}

func TestColumnsAreFoundWithAnError(t *testing.T) {
	broken := fmt.Errorf("server is away")
	o := Options{Columns: func(string, string) ([]Column, error) { return nil, broken }}
	for name := range tabular {
		if _, err := newFormat(t, name, o).NewEncoder(new(bytes.Buffer), group); err == nil || !strings.Contains(err.Error(), "page: server is away") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An encoder keeps no reference to its record.
func TestRecordIsNotKept(t *testing.T) {
	for _, e := range ofRecords(t) {
		f := newFormat(t, e.name, with(everyType))
		want := encode(t, f, linesOf(`{"text":"abc","x":"y"}`, `{"text":"def","json":{"a":"b"}}`)...)
		var out bytes.Buffer
		enc, err := f.NewEncoder(&out, group)
		fatal(t, err)
		buffer := make([]byte, 0, 100)
		for _, line := range []string{`{"text":"abc","x":"y"}`, `{"text":"def","json":{"a":"b"}}`} {
			buffer = append(buffer[:0], line...)
			fatal(t, enc.Append(&Record{Data: buffer}))
			clear(buffer)
		}
		fatal(t, enc.Close())
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%s: a record that changed after Append changed the chunk", e.name)
		}
	}
}

// Any object is decoded to itself, with given or inferred columns.
func fuzzColumns(f *testing.F, name string) {
	for _, line := range []string{
		`{"text":"a,\"b\r\n","integer":1,"number":1.5e-7,"bool":true,"time":"2026-01-02T03:04:05Z","json":{"a":[1]},"x":[{}]}`,
		`{"texts":["a",null],"integers":[],"numbers":[1,2.5],"bools":[true],"times":["2026-01-02"],"_more":1,"":2}`,
		`{"a.b":1,"A":"=1","é\u0000":"","list":[1,2.5,"x"],"json":"\u0000"}`,
		`{"time":"0000-01-01T00:00:00Z","number":1e999,"integer":"1","text":{"a":1}}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if !json.Valid([]byte(line)) || line[0] != '{' || repeats(line) {
			_ = encode(t, newFormat(t, name, with(everyType)), linesOf(line)...)
			t.Skip()
		}
		var inferred Infer
		inferred.Add([]byte(line))
		for _, columns := range [][]Column{everyType, inferred.Columns()} {
			chunk := encode(t, newFormat(t, name, with(columns)), linesOf(line, line)...)
			got := tabular[name](t, chunk, columns)
			if len(got) != 2 {
				t.Fatalf("%d records", len(got))
			}
			wantRecord(t, columns, string([]rune(line)), got[0])
			wantRecord(t, columns, string([]rune(line)), got[1])
		}
	})
}

// repeats reports whether a top-level object has a name twice: RFC 8259 does not define such
// objects.
func repeats(line string) bool {
	d := json.NewDecoder(strings.NewReader(string([]rune(line))))
	_, _ = d.Token()
	seen := make(map[string]bool)
	for d.More() {
		name, err := d.Token()
		text, ok := name.(string)
		if err != nil || !ok || seen[text] {
			return true
		}
		seen[text] = true
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return true
		}
	}
	return false
}

func FuzzCSV(f *testing.F)     { fuzzColumns(f, "csv") }
func FuzzParquet(f *testing.F) { fuzzColumns(f, "parquet") }

// A damaged or hostile Parquet file gives an error.
func FuzzReadParquet(f *testing.F) {
	for _, lines := range [][]string{{`{"text":"a","integers":[1,null]}`}, {`{"json":{"a":1},"time":"2026-01-02"}`, `{"x":1}`}} {
		f.Add(encode(f, newFormat(f, "parquet", with(everyType)), linesOf(lines...)...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = rowsIn(bytes.NewReader(data), func([]byte) error { return nil })
	})
}
