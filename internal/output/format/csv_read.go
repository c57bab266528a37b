package format

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
)

// EachRecordOf is EachRecord for a committed file. It takes the columns from the log, since CSV has
// no types.
func EachRecordOf(f *output.File, r io.Reader, ids ageencrypt.Identities, do func(line []byte) error) (n int, err error) {
	if !strings.HasPrefix(NameOf(f.Path), "csv") || len(f.Columns) == 0 {
		return EachRecord(f.Path, r, ids, do)
	}
	in, closer, err := unpack(NameOf(f.Path), r)
	if err != nil {
		return 0, cutAt(err)
	}
	defer closer()
	err = csvRowsIn(bufio.NewReaderSize(in, 64<<10), ColumnsNamed(f.Columns), func(line []byte) error {
		n++
		return do(line)
	})
	return n, cutAt(err)
}

// HasByteOrderMark reports whether a committed file is CSV with a byte order mark.
func HasByteOrderMark(o output.Output, f *output.File) (bool, error) {
	if !strings.HasPrefix(NameOf(f.Path), "csv") {
		return false, nil
	}
	file, err := o.Open(*f)
	if err != nil {
		return false, err
	}
	defer file.Close()
	in, closer, err := unpack(NameOf(f.Path), file)
	if err != nil {
		return false, cutAt(err)
	}
	defer closer()
	start := make([]byte, len(byteOrderMark))
	_, err = io.ReadFull(in, start)
	return string(start) == byteOrderMark, cutAt(err)
}

// csvField is the unquoted text of a field, and whether it was quoted.
type csvField struct {
	text   []byte
	quoted bool
}

// csvRowsIn reads the lines of a file written by csvFile.
func csvRowsIn(r *bufio.Reader, columns []Column, do func(line []byte) error) error {
	var fields []csvField
	var line []byte
	for header := true; ; header = false {
		var err error
		if fields, err = readRow(r, fields[:0]); errors.Is(err, io.EOF) && len(fields) == 0 && !header {
			return nil
		}
		switch {
		case err != nil:
			return err
		case len(fields) != len(columns)+1:
			return errors.New("its columns differ from the commit log")
		case header:
			continue
		}
		line = recordOf(line[:0], fields, columns)
		if err := do(line); err != nil {
			return err
		}
	}
}

// readRow reads the fields of a line.
func readRow(r *bufio.Reader, fields []csvField) ([]csvField, error) {
	for {
		var f csvField
		b, err := r.ReadByte()
		for f.quoted = err == nil && b == '"'; f.quoted; {
			part, err := r.ReadBytes('"')
			if err != nil {
				return fields, io.ErrUnexpectedEOF
			}
			f.text = append(f.text, part[:len(part)-1]...)
			if b, err = r.ReadByte(); err != nil {
				return fields, io.ErrUnexpectedEOF
			}
			if b != '"' {
				break
			}
			f.text = append(f.text, b)
		}
		for ; err == nil && b != ',' && b != '\r'; b, err = r.ReadByte() {
			f.text = append(f.text, b)
		}
		if err != nil {
			if len(fields) > 0 || len(f.text) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return fields, err
		}
		fields = append(fields, f)
		if b == '\r' {
			_, err := r.Discard(len("\n"))
			return fields, err
		}
	}
}

// recordOf appends the record of a line. The members of More come first, so that columns take
// precedence.
func recordOf(to []byte, fields []csvField, columns []Column) []byte {
	record, text, isRecord := startRecord(to, fields[len(columns)].text)
	if !isRecord {
		return text
	}
	for i, c := range columns {
		switch f := fields[i]; {
		case len(f.text) == 0 && !f.quoted, i > 0 && isMade(columns, i, f.text, fields[i-1].text):
		case c.List || c.Type == Integer || c.Type == Number || c.Type == Bool,
			c.Type == JSON && len(f.text) > 0 && (f.text[0] == '{' || f.text[0] == '[') && json.Valid(f.text):
			record.Raw(c.Name, f.text)
		default:
			record.Text(c.Name, string(f.text))
		}
	}
	return record.End()
}
