package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"seine/internal/output/ageencrypt"
)

// decoded is a record as decoded from a chunk, by column, without missing values.
type decoded map[string]any

// csvAny is a CSV field in a column of any type: JSON, or an unquoted text.
type csvAny string

// decode decodes JSON, with numbers as written.
func decode(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%.100q: %v", text, err)
	}
	return v
}

// inCSV returns a text in the form that CSV keeps: no program that loads CSV accepts U+0000.
func inCSV(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// readCSV parses a chunk strictly by RFC 4180: encoding/csv would change line ends within fields.
func readCSV(t testing.TB, data []byte, columns []Column) []decoded {
	t.Helper()
	if bytes.IndexByte(data, 0) >= 0 {
		t.Fatalf("U+0000 in %q", data)
	}
	lines := csvLines(t, string(data))
	columns = append(usable(columns), Column{Name: More, Type: JSON})
	var all []decoded
	for n, line := range lines {
		if len(line) != len(columns) {
			t.Fatalf("line %d has %d fields, not %d: %q", n+1, len(line), len(columns), line)
		}
		if n == 0 {
			for i, c := range columns {
				if got := unquoted(line[i]); got != inCSV(c.Name) {
					t.Fatalf("column %d is %q, want %q", i, got, c.Name)
				}
			}
			continue
		}
		record := make(decoded)
		for i, c := range columns {
			if line[i] == "" {
				continue
			}
			record[c.Name] = csvValue(t, c, unquoted(line[i]))
		}
		all = append(all, record)
	}
	return all
}

func csvValue(t testing.TB, c Column, field string) any {
	switch {
	case c.List || c.Name == More:
		return decode(t, field)
	case c.Type == JSON:
		return csvAny(field)
	case c.Type == Text || c.Type == Time:
		return field
	}
	return decode(t, field)
}

// csvLines returns the fields of each line, as written.
func csvLines(t testing.TB, data string) (lines [][]string) {
	t.Helper()
	var line []string
	from, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] == '"':
			quoted = !quoted
		case quoted:
		case data[i] == ',':
			line, from = append(line, data[from:i]), i+1
		case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
			lines = append(lines, append(line, data[from:i]))
			i++
			line, from = nil, i+1
		case data[i] == '\r' || data[i] == '\n':
			t.Fatalf("a bare line end at %d", i)
		}
	}
	if quoted || from != len(data) {
		t.Fatalf("no whole line at the end: %q", data[from:])
	}
	return lines
}

func unquoted(field string) string {
	if strings.HasPrefix(field, `"`) {
		return strings.ReplaceAll(field[1:len(field)-1], `""`, `"`)
	}
	return field
}

// readParquet decodes a chunk with parquet-go, and checks that encoding the decoded records gives
// the same chunk.
func readParquet(t testing.TB, data []byte, columns []Column) []decoded {
	t.Helper()
	all := rowsOf(t, data, columns)
	var again []*Record
	if _, err := EachRecord("part.parquet", bytes.NewReader(data), ageencrypt.Identities{}, func(line []byte) error {
		again = append(again, linesOf(string(line))...)
		return nil
	}); err != nil {
		t.Fatalf("read it back: %v", err)
	}
	if got := rowsOf(t, encode(t, newFormat(t, "parquet", with(columns)), again...), columns); !reflect.DeepEqual(got, all) {
		t.Fatalf("what is read back makes %v, want %v", got, all)
	}
	return all
}

func rowsOf(t testing.TB, data []byte, columns []Column) []decoded {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	fatal(t, err)
	columns = append(usable(columns), Column{Name: More, Type: JSON})
	for i, node := range f.Schema().Fields() {
		if node.Name() != columns[i].Name {
			t.Fatalf("column %d is %q, want %q", i, node.Name(), columns[i].Name)
		}
	}
	var all []decoded
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buffer := make([]parquet.Row, 100)
		for {
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				all = append(all, parquetRecord(t, row, columns))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			fatal(t, err)
		}
		fatal(t, rows.Close())
	}
	return all
}

func parquetRecord(t testing.TB, row parquet.Row, columns []Column) decoded {
	record := make(decoded)
	row.Range(func(i int, values []parquet.Value) bool {
		c := columns[i]
		switch {
		case values[0].DefinitionLevel() == 0:
		case !c.List:
			record[c.Name] = parquetValue(t, c.Type, values[0])
		default:
			list := []any{}
			for _, v := range values {
				switch v.DefinitionLevel() {
				case 2:
					list = append(list, nil)
				case 3:
					list = append(list, parquetValue(t, c.Type, v))
				}
			}
			record[c.Name] = list
		}
		return true
	})
	return record
}

func parquetValue(t testing.TB, typ Type, v parquet.Value) any {
	switch typ {
	case Integer:
		return v.Int64()
	case Number:
		return v.Double()
	case Bool:
		return v.Boolean()
	case Time:
		return time.UnixMicro(v.Int64()).UTC()
	case JSON:
		return decode(t, string(v.ByteArray()))
	default:
		return string(v.ByteArray())
	}
}

// wantRecord checks that the decoded columns represent the record.
func wantRecord(t testing.TB, columns []Column, line string, got decoded) {
	t.Helper()
	want, _ := decode(t, line).(map[string]any)
	more, _ := got[More].(map[string]any)
	types := make(map[string]Column)
	for _, c := range usable(columns) {
		types[c.Name] = c
	}
	for name, w := range want {
		_, isColumn := types[name]
		m, inMore := more[name]
		switch {
		case inMore:
			if !reflect.DeepEqual(m, w) {
				t.Errorf("%s: in %s it is %#v, want %#v", name, More, m, w)
			}
		case !isColumn:
			t.Errorf("%s is lost: %#v", name, w)
		case !same(t, types[name], got[name], w):
			t.Errorf("%s: %#v, want %#v", name, got[name], w)
		}
	}
	for name := range more {
		if _, ok := want[name]; !ok {
			t.Errorf("%s has %q, which is not in the record", More, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok && name != More {
			t.Errorf("%q has %#v, which is not in the record", name, got[name])
		}
	}
}

// same reports whether a decoded value equals that of the record, as far as the type of its column
// permits.
func same(t testing.TB, c Column, got, want any) bool {
	if got == nil {
		return want == nil || c.Type == Time && want == ""
	}
	if list, ok := got.([]any); ok && c.List {
		wants, ok := want.([]any)
		if !ok || len(wants) != len(list) {
			return false
		}
		for i := range list {
			if !same(t, Column{Type: c.Type}, list[i], wants[i]) {
				return false
			}
		}
		return true
	}
	if text, ok := want.(string); ok && got == inCSV(text) {
		return true
	}
	if number, ok := want.(json.Number); ok && c.Type == Text && got == string(number) { // the columns were joined
		return true
	}
	switch g := got.(type) {
	case csvAny:
		if text, ok := want.(string); ok && string(g) == inCSV(text) {
			return true
		}
		return want == string(g) || reflect.DeepEqual(decode(t, string(g)), want)
	case time.Time:
		return g.Equal(parsedTime(t, want.(string)))
	case int64:
		n, ok := new(big.Int).SetString(string(want.(json.Number)), 10)
		return ok && n.IsInt64() && n.Int64() == g
	case float64:
		f, err := want.(json.Number).Float64()
		return err == nil && f == g
	}
	return reflect.DeepEqual(got, want)
}

func parsedTime(t testing.TB, s string) time.Time {
	layout := time.RFC3339
	if len(s) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	at, err := time.Parse(layout, s)
	fatal(t, err)
	return time.UnixMicro(at.UnixMicro())
}
