package format

import (
	"strings"

	"seine/internal/output"
)

// Columns implements Tabular.
func (f *csvFile) Columns() []output.Column { return f.row.described() }

// Columns implements Tabular.
func (f *parquetFile) Columns() []output.Column { return f.row.described() }

// described returns the columns in the form of the log.
func (r *row) described() []output.Column {
	all := make([]output.Column, 0, len(r.columns)+1)
	for _, c := range r.columns {
		all = append(all, output.Column{Name: c.Name, Type: c.String()})
	}
	return append(all, output.Column{Name: More, Type: JSON.String()})
}

// ColumnsNamed returns the columns listed in the log, without More.
func ColumnsNamed(told []output.Column) []Column {
	var columns []Column
	for _, c := range told {
		name, list := strings.CutPrefix(c.Type, listOfType)
		for t := Text; t <= JSON && c.Name != More; t++ {
			if t.String() == name {
				columns = append(columns, Column{c.Name, t, list})
			}
		}
	}
	return columns
}

const listOfType = "list of "

var (
	_ Tabular = (*csvFile)(nil)
	_ Tabular = (*parquetFile)(nil)
)
