package format

import (
	"bytes"
	"io"
	"strings"

	"seine/internal/base/jsontext"
	"seine/internal/output"
)

// csv is comma-separated values (RFC 4180) in UTF-8, with a header line. A missing value is an
// empty field, an empty text is a quoted empty field, and a list or object is JSON.
type csv struct {
	ext string
	packing
	Options
}

func (f csv) Ext() string { return f.ext }

func (f csv) NewEncoder(w io.Writer, g output.Group) (Encoder, error) {
	columns, err := f.columns(g)
	if err != nil {
		return nil, err
	}
	e := &csvFile{packer: f.open(w), row: newRow(columns), safe: f.CSVSafe, only: f.CSVOnly}
	if f.CSVBOM {
		e.line = append(e.line, byteOrderMark...)
	}
	for _, c := range columns {
		e.text([]byte(c.Name))
	}
	if !f.CSVOnly {
		e.text([]byte(More))
	}
	return e, e.endLine()
}

// byteOrderMark marks a text as UTF-8. Without it, Excel assumes the machine's encoding.
const byteOrderMark = "\ufeff"

// csvFile writes the lines of a file.
type csvFile struct {
	packer
	row  *row
	safe bool
	only bool
	line []byte
	buf  []byte // a text, unescaped
}

func (f *csvFile) Append(r *Record) error {
	f.row.read(r.Data)
	for i := range f.row.cells {
		f.cell(&f.row.columns[i], &f.row.cells[i])
	}
	if !f.only {
		f.field(f.row.more)
	}
	if err := f.endLine(); err != nil {
		return err
	}
	return f.EndRecord()
}

// cell appends a value. In a column of any type, a text is written without JSON quotes: fields have
// no types, and readers would have to undo quotes within quotes.
func (f *csvFile) cell(c *Column, v *cell) {
	switch {
	case v.raw == nil:
		f.line = append(f.line, ',')
	case v.raw[0] == '"' && !c.List:
		f.buf = jsontext.AppendText(f.buf[:0], v.raw[1:len(v.raw)-1])
		f.text(f.buf)
	default:
		f.field(v.raw)
	}
}

// text appends a text. With --csv-safe it escapes texts that a spreadsheet may evaluate as
// formulas. Numbers and JSON lists and objects need no escape.
func (f *csvFile) text(b []byte) {
	if f.safe && isFormula(b) {
		b = append([]byte{'\''}, b...)
	}
	if len(b) == 0 {
		f.line = append(f.line, `"",`...)
		return
	}
	f.field(b)
}

// isFormula reports whether a spreadsheet may evaluate a text as a formula: OWASP, "CSV Injection".
func isFormula(b []byte) bool { return len(b) > 0 && strings.IndexByte("=+-@\t\r\n", b[0]) >= 0 }

// field appends a field, quoted if needed. It replaces U+0000 by U+FFFD: PostgreSQL and SQLite do
// not read CSV with U+0000.
func (f *csvFile) field(b []byte) {
	if bytes.IndexByte(b, 0) >= 0 {
		b = bytes.ReplaceAll(b, []byte{0}, []byte("\ufffd"))
	}
	if !bytes.ContainsAny(b, ",\"\r\n") {
		f.line = append(append(f.line, b...), ',')
		return
	}
	f.line = append(f.line, '"')
	for {
		n := bytes.IndexByte(b, '"')
		if n < 0 {
			break
		}
		f.line = append(append(f.line, b[:n+1]...), '"')
		b = b[n+1:]
	}
	f.line = append(append(f.line, b...), `",`...)
}

// endLine writes the line. It replaces the comma after the last field.
func (f *csvFile) endLine() error {
	f.line[len(f.line)-1] = '\r'
	_, err := f.Write(append(f.line, '\n'))
	f.line = f.line[:0]
	return err
}
