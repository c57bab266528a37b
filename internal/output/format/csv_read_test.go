package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"seine/internal/output"
)

// Reading and rewriting CSV records gives the same bytes for any content. With more columns, only
// fields are added.
func TestCSVIsWrittenAgainAsItWas(t *testing.T) {
	t.Parallel()
	columns := []Column{
		{Name: "t"}, {Name: "i", Type: Integer}, {Name: "n", Type: Number}, {Name: "b", Type: Bool}, {Name: "d", Type: Time},
		{Name: "j", Type: JSON}, {Name: "l", List: true}, {Name: `odd "name", é`}, {Name: "ln", Type: Number, List: true},
		{Name: "url"}, {Name: Host},
	}
	values := []string{
		`""`, `"x"`, `"a,b"`, `"\"q\""`, `"l\r\nm"`, `" "`, `"=1+1"`, `"\u0000"`, `"\ud83d\ude00 é"`, `"12"`, `12`, `-0`, `1.50`, `1e400`, `9007199254740993`,
		`true`, `false`, `null`, `"2026-01-02"`, `"2026-01-02T03:04:05Z"`, `[]`, `["a","b,c"]`, `[1,2.5]`, `{"a":[1,"x"]}`, `["a",null]`, `"{}"`, `"[1]"`, `"null"`,
		`"https://a.example/x"`, `"a.example"`,
	}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		var records []string
		for range 1 + r.IntN(8) {
			var members []string
			for _, c := range append(columns, Column{Name: "other"}, Column{Name: "o2"}) {
				if r.IntN(3) > 0 {
					name, _ := json.Marshal(c.Name)
					members = append(members, string(name)+":"+values[r.IntN(len(values))])
				}
			}
			records = append(records, "{"+strings.Join(members, ",")+"}")
		}
		if r.IntN(10) == 0 {
			records = append(records, `no record, "at" all`)
		}
		written := csvOf(t, columns, records)
		var again []string
		mustDo(t, csvRowsIn(bufio.NewReader(strings.NewReader(written)), columns, func(line []byte) error {
			again = append(again, string(line))
			return nil
		}))
		if got := csvOf(t, columns, again); got != written {
			t.Fatalf("seed %d: %q, want %q", seed, got, written)
		}
		for cut := range len(written) - 1 {
			n := 0
			err := csvRowsIn(bufio.NewReader(strings.NewReader(written[:cut])), columns, func([]byte) error { n++; return nil })
			if err == nil && n == len(again) {
				t.Fatalf("seed %d: cut at %d of %d, it has all records", seed, cut, len(written))
			}
		}
	}
}

func csvOf(t *testing.T, columns []Column, records []string) string {
	t.Helper()
	f, _ := New("csv", Options{Columns: func(string, string) ([]Column, error) { return columns, nil }})
	var b bytes.Buffer
	enc, err := f.NewEncoder(&b, output.Group{})
	mustDo(t, err)
	for _, r := range records {
		mustDo(t, enc.Append(&Record{Data: []byte(r)}))
	}
	mustDo(t, enc.Close())
	return b.String()
}

// The columns listed in the log are decoded.
func TestColumnsNamed(t *testing.T) {
	t.Parallel()
	var all []Column
	for c := Text; c <= JSON; c++ {
		all = append(all, Column{fmt.Sprint("c", c), c, false}, Column{fmt.Sprint("l", c), c, true})
	}
	if got := ColumnsNamed(newRow(all).described()); fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("%v, want %v", got, all)
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
