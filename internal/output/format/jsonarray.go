package format

import (
	"io"

	"seine/internal/output"
)

// jsonArray is one JSON array of all records, each on a separate line. It is for small sets: most
// parsers hold all of it in memory.
type jsonArray struct{ packing }

func (jsonArray) Ext() string { return "json" }

func (a jsonArray) NewEncoder(w io.Writer, _ output.Group) (Encoder, error) {
	return &array{packer: a.open(w), before: "[\n"}, nil
}

type array struct {
	packer
	before string // separator before the next record
}

func (a *array) Append(r *Record) error {
	if _, err := io.WriteString(a.packer, a.before); err != nil {
		return err
	}
	a.before = ",\n"
	if _, err := a.Write(r.Data); err != nil {
		return err
	}
	return a.EndRecord()
}

func (a *array) Close() error {
	end := "\n]\n"
	if a.before == "[\n" {
		end = "[]\n"
	}
	if _, err := io.WriteString(a.packer, end); err != nil {
		return err
	}
	return a.packer.Close()
}
