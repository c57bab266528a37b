package format

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"seine/internal/base/jsontext"
)

// errForeign is returned for a file whose columns are not those of a chunk.
var errForeign = fmt.Errorf("%w: its columns are not those of Seine records", ErrNoRecords)

// rowsIn reads a Parquet file, which it first copies to a temporary file unless r is a file. A null
// value becomes a missing member, a time has microseconds, and a date becomes midnight UTC. The
// members of the column More come first.
func rowsIn(r io.Reader, do func([]byte) error) (err error) {
	f, is := r.(*os.File)
	if !is {
		if f, err = os.CreateTemp("", "seine-parquet-"); err != nil {
			return err
		}
		defer func() { _ = errors.Join(f.Close(), os.Remove(f.Name())) }() // a temporary file
		if _, err := io.Copy(f, r); err != nil {
			return err
		}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !hasFooter(f, info.Size()) {
		return ErrCut
	}
	defer func() {
		if p := recover(); p != nil { // parquet-go panics on some damaged files
			err = fmt.Errorf("it is damaged: %v", p)
		}
	}()
	file, err := parquet.OpenFile(f, info.Size(), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("read the Parquet file: %w", err)
	}
	rows := rowReader{line: do}
	if err := rows.readColumns(file.Schema()); err != nil || !hasOurCodec(file.Metadata()) {
		return cmp.Or(err, errForeign)
	}
	for _, g := range file.RowGroups() {
		if err := rows.readGroup(g); err != nil {
			return err
		}
	}
	return nil
}

// hasFooter reports whether the file is at least as long as its end says that the footer is.
// parquet-go allocates that length unchecked.
func hasFooter(f io.ReaderAt, size int64) bool {
	var end [8]byte
	_, err := f.ReadAt(end[:], size-int64(len(end)))
	return err == nil && string(end[4:]) == "PAR1" && int64(binary.LittleEndian.Uint32(end[:])) <= size-12
}

// hasOurCodec reports whether all columns are compressed with the codec of our chunks. For a
// damaged page in another codec, parquet-go may allocate any amount of memory.
func hasOurCodec(m *format.FileMetaData) bool {
	return !slices.ContainsFunc(m.RowGroups, func(g format.RowGroup) bool {
		return slices.ContainsFunc(g.Columns, func(c format.ColumnChunk) bool { return c.MetaData.Codec != format.Zstd })
	})
}

// rowReader converts rows to records.
type rowReader struct {
	columns []Column
	more    int // index of the column More, -1 if missing
	line    func([]byte) error
	buffer  []byte
}

// typesOfLeaves maps parquet-go's names for the types that leafOf makes, after a round trip through
// a file.
var typesOfLeaves = map[string]Type{
	"STRING": Text, "INT64": Integer, "INT(64,true)": Integer, "DOUBLE": Number, "BOOLEAN": Bool, "JSON": JSON,
	"TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)": Time,
}

// readColumns reads the columns that nodeOf makes.
func (r *rowReader) readColumns(s *parquet.Schema) error {
	for _, f := range s.Fields() {
		c := Column{Name: f.Name(), List: !f.Leaf()}
		var leaf parquet.Node = f
		for _, name := range leafPath(c)[1:] {
			i := slices.IndexFunc(leaf.Fields(), func(f parquet.Field) bool { return f.Name() == name })
			if i < 0 || leaf.Fields()[i].Leaf() != (name == "element") {
				return errForeign
			}
			leaf = leaf.Fields()[i]
		}
		is := false
		if c.Type, is = typesOfLeaves[leaf.Type().String()]; !is {
			return errForeign
		}
		r.columns = append(r.columns, c)
	}
	r.more = slices.IndexFunc(r.columns, func(c Column) bool { return c.Name == More })
	return nil
}

func (r *rowReader) readGroup(g parquet.RowGroup) error {
	rows := g.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, batchRows)
	for {
		n, err := rows.ReadRows(buffer)
		for _, row := range buffer[:n] {
			if err := r.line(r.record(row)); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("it is damaged: %w", err)
		}
	}
}

// record returns the record of a row. It is valid until the next call.
func (r *rowReader) record(row parquet.Row) []byte {
	cells := make([][]parquet.Value, len(r.columns))
	row.Range(func(i int, values []parquet.Value) bool {
		cells[i] = values
		return true
	})
	var more []byte
	if r.more >= 0 && !cells[r.more][0].IsNull() {
		more = cells[r.more][0].ByteArray()
	}
	o, text, isRecord := startRecord(r.buffer[:0], more)
	if !isRecord {
		return bytes.ReplaceAll(text, []byte("\n"), []byte(" "))
	}
	for i, values := range cells {
		if isHost(r.columns, i) && isMade(r.columns, i, values[0].ByteArray(), cells[i-1][0].ByteArray()) {
			continue
		}
		if c := r.columns[i]; i != r.more && (values[0].DefinitionLevel() > 0 || !values[0].IsNull()) {
			o.Key(c.Name)
			o.B = c.appendCell(o.B, values)
		}
	}
	r.buffer = o.End()
	return r.buffer
}

// appendCell appends the values of a cell as JSON.
func (c Column) appendCell(b []byte, values []parquet.Value) []byte {
	if !c.List {
		return c.Type.appendValue(b, values[0])
	}
	if values[0].DefinitionLevel() == 1 {
		values = nil
	}
	return jsontext.AppendList(b, values, c.Type.appendValue)
}

func (t Type) appendValue(b []byte, v parquet.Value) []byte {
	switch {
	case v.IsNull(), t == Number && (math.IsNaN(v.Double()) || math.IsInf(v.Double(), 0)):
		return append(b, "null"...)
	case t == Text:
		return jsontext.AppendString(b, string(v.ByteArray()))
	case t == Time:
		return jsontext.AppendTime(b, time.UnixMicro(v.Int64()).UTC())
	case t == JSON:
		return append(b, v.ByteArray()...)
	case t == Number && math.Abs(v.Double()) >= 1<<53 && math.Abs(v.Double()) < 1e21: // all digits count: see parseNumber
		return strconv.AppendFloat(b, v.Double(), 'f', 0, 64)
	case t == Number:
		text, _ := json.Marshal(v.Double()) // it is finite
		return append(b, text...)
	}
	return append(b, v.String()...)
}
