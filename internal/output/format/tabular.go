package format

import "seine/internal/output"

// Columns implements Tabular.
func (f *csvFile) Columns() []output.Column { return f.row.described() }

// Columns implements Tabular.
func (f *parquetFile) Columns() []output.Column { return f.row.described() }

// described returns the columns as a reader of the log sees them.
func (r *row) described() []output.Column {
	all := make([]output.Column, 0, len(r.columns)+1)
	for _, c := range r.columns {
		name := c.Type.String()
		if c.List {
			name = "list of " + name
		}
		all = append(all, output.Column{Name: c.Name, Type: name})
	}
	return append(all, output.Column{Name: More, Type: JSON.String()})
}

var (
	_ Tabular = (*csvFile)(nil)
	_ Tabular = (*parquetFile)(nil)
)
