package format

import (
	"bytes"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"seine/internal/base/jsontext"
)

// row is a record split into the columns of a chunk. It points into the record.
type row struct {
	columns []Column
	byName  map[string]int
	cells   []cell // one for each column
	more    []byte // members without a column, as a JSON object without its closing brace; may be empty
	host    int    // the column of WithHost, or 0 for none
	text    []byte // backing array of that column's value
}

// cell is a record's value in a column.
type cell struct {
	raw []byte  // JSON of the value; nil if missing
	n   int64   // an Integer; a Bool, 0 or 1; a Time, in microseconds since 1970
	f   float64 // a Number
}

func newRow(columns []Column) *row {
	r := &row{columns: columns, byName: make(map[string]int, len(columns)), cells: make([]cell, len(columns))}
	for i, c := range columns {
		r.byName[c.Name] = i
		if isHost(columns, i) {
			r.host = i
		}
	}
	return r
}

// read splits a record into columns. Data that is not a record is kept as one text; only a faulty
// producer sends it.
func (r *row) read(data []byte) {
	if !utf8.Valid(data) {
		data = []byte(string(bytes.Runes(data)))
	}
	clear(r.cells)
	r.more = r.more[:0]
	m := jsontext.MembersOf(data)
	next := 0 // most records have their members in the order of the columns
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		i := r.column(name, next)
		if i < 0 {
			r.keep(name, value)
			continue
		}
		before := r.cells[i].raw
		r.cells[i] = cell{}
		ok := r.columns[i].read(value, &r.cells[i])
		if before != nil { // if a name occurs twice, the last member counts
			r.keep(name, before)
		}
		if !ok {
			r.keep(name, value)
		}
		next = i + 1
	}
	if m.Bad() {
		clear(r.cells)
		r.more = jsontext.AppendString(r.more[:0], string(data))
		return
	}
	if len(r.more) > 0 {
		r.more = append(r.more, '}')
	}
	if r.host > 0 && r.cells[r.host].raw == nil {
		r.readHost(r.cells[r.host-1].raw)
	}
}

// readHost sets the cell of the host from a URL, a JSON string.
func (r *row) readHost(url []byte) {
	if len(url) == 0 || url[0] != '"' {
		return
	}
	r.text = jsontext.AppendText(r.text[:0], url[1:len(url)-1])
	if host := hostOf(r.text); host != "" {
		r.text = jsontext.AppendString(r.text[:0], host)
		r.cells[r.host].raw = r.text
	}
}

// column returns the index of the column for a JSON-escaped name, or -1. likely is the index to try
// first.
func (r *row) column(name []byte, likely int) int {
	if likely < len(r.columns) && string(name) == r.columns[likely].Name {
		return likely
	}
	if bytes.IndexByte(name, '\\') >= 0 {
		name = jsontext.AppendText(nil, name)
	}
	if i, ok := r.byName[string(name)]; ok {
		return i
	}
	return -1
}

// keep adds a member, unchanged, to the column More.
func (r *row) keep(name, value []byte) {
	open := byte(',')
	if len(r.more) == 0 {
		open = '{'
	}
	r.more = append(append(append(r.more, open, '"'), name...), '"', ':')
	r.more = append(r.more, value...)
}

// read reports whether a value fits the column, and sets its cell. Null fits as a missing value, as
// does an empty text in a column of times.
func (c *Column) read(raw []byte, out *cell) bool {
	switch {
	case string(raw) == "null":
		return true
	case c.List:
		if !c.fitAll(raw) {
			return false
		}
		out.raw = raw
		return true
	case c.Type == Time && string(raw) == `""`:
		return true
	}
	return c.readScalar(raw, out)
}

// readScalar is Type.read, but a text column also accepts numbers and booleans, with whose columns
// it may have been joined.
func (c *Column) readScalar(raw []byte, out *cell) bool {
	if c.Type == Text && raw[0] != '{' && raw[0] != '[' {
		out.raw = raw
		return true
	}
	return c.Type.read(raw, out)
}

// fitAll reports whether raw is a list of values that fit.
func (c *Column) fitAll(raw []byte) bool {
	if raw[0] != '[' {
		return false
	}
	var element cell
	m := jsontext.MembersOf(raw)
	for e, ok := m.Element(); ok; e, ok = m.Element() {
		if string(e) != "null" && !c.readScalar(e, &element) {
			return false
		}
	}
	return !m.Bad()
}

// read reports whether a value is of the type, and sets its cell.
func (t Type) read(raw []byte, out *cell) (ok bool) {
	switch t {
	case Text:
		ok = raw[0] == '"'
	case Integer:
		out.n, ok = parseInteger(raw)
	case Number:
		out.f, ok = parseNumber(raw)
	case Bool:
		ok = raw[0] == 't' || raw[0] == 'f'
		if raw[0] == 't' {
			out.n = 1
		}
	case Time:
		out.n, ok = parseTime(raw)
	default:
		ok = true
	}
	if ok {
		out.raw = raw
	}
	return ok
}

func isNumber(raw []byte) bool { return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' }

func parseInteger(raw []byte) (int64, bool) {
	if !isNumber(raw) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// parseNumber rejects numbers that do not fit a double, and large integers without an exact double:
// all digits may count, as in an identifier.
func parseNumber(raw []byte) (float64, bool) {
	if !isNumber(raw) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, false
	}
	if math.Abs(f) >= 1<<53 && !bytes.ContainsAny(raw, ".eE") {
		return f, string(strconv.AppendFloat(nil, f, 'f', 0, 64)) == string(raw)
	}
	return f, true
}

func parseTime(raw []byte) (int64, bool) {
	if len(raw) < len(`"2006-01-02"`) || raw[0] != '"' {
		return 0, false
	}
	text, layout := string(raw[1:len(raw)-1]), time.RFC3339Nano
	if len(text) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, text)
	return t.UnixMicro(), err == nil
}

// startRecord begins the record of a row that is read back, appending to to, with the members of
// the column More. Columns that follow take precedence. If More is a text, the row was not a
// record, and startRecord returns that text.
func startRecord(to, more []byte) (record jsontext.Object, text []byte, isRecord bool) {
	if len(more) > 0 && more[0] != '{' {
		return record, jsontext.AppendText(to, more[1:len(more)-1]), false
	}
	record.B = to
	m := jsontext.MembersOf(more)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		record.Raw(string(jsontext.AppendText(nil, name)), value)
	}
	return record, nil, true
}
