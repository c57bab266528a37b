package format

import (
	"bytes"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"seine/internal/base/jsontext"
)

// row is a record in the columns of a chunk. It points into the record.
type row struct {
	columns []Column
	byName  map[string]int
	cells   []cell // one for each column
	more    []byte // what they cannot have, a JSON object; empty if that is nothing
	host    int    // the column of WithHost, 0 if there is none
	text    []byte // of host
}

// cell is the value that a record has in a column.
type cell struct {
	raw []byte  // as it is written in the record; nil is none
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

// read takes a record apart. What is no record, which only a producer that lies
// about itself gets as far as here, is kept as one text.
func (r *row) read(data []byte) {
	if !utf8.Valid(data) {
		data = []byte(string(bytes.Runes(data)))
	}
	clear(r.cells)
	r.more = r.more[:0]
	m := jsontext.MembersOf(data)
	next := 0 // records have their members in one order, mostly that of the columns
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		i := r.column(name, next)
		if i < 0 {
			r.keep(name, value)
			continue
		}
		before := r.cells[i].raw
		r.cells[i] = cell{}
		ok := r.columns[i].read(value, &r.cells[i])
		if before != nil { // of members of one name the last counts
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

// readHost sets the cell of the host of a URL, a text of JSON.
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

// column returns the index of the column for a name as it is written in JSON, -1
// if there is none. Likely is a guess.
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

// keep adds a member to the column More, as it is written.
func (r *row) keep(name, value []byte) {
	open := byte(',')
	if len(r.more) == 0 {
		open = '{'
	}
	r.more = append(append(append(r.more, open, '"'), name...), '"', ':')
	r.more = append(r.more, value...)
}

// read reports whether a value fits the column, and sets its cell. Null, and the
// empty text where there may be a time, is nothing, and fits.
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

// readScalar is Type.read, but a column of texts takes numbers and booleans: it may have been joined with one of them.
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

// read reports whether a value is of a type, and sets its cell.
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

// parseNumber takes no number that has no double, and no whole number that has
// none of its own: of those every digit may count, as in an identity.
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

// startRecord begins the record of a row that is read back, behind to, with the members in the column More: a column
// of the same name follows and counts. Where More is a text, the row was no record, and that text is returned.
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
