package format

import (
	"bytes"
	"slices"

	"seine/internal/base/weburl"
)

// Column is what the records of a kind have under one name.
type Column struct {
	Name string
	Type Type
	List bool // of such values
}

// String returns the type of the column as the log has it.
func (c Column) String() string {
	if c.List {
		return listOfType + c.Type.String()
	}
	return c.Type.String()
}

// Type is what the values of a column are.
type Type int

// Types of values. A value of another type goes to the column More.
const (
	Text    Type = iota
	Integer      // a whole number of 64 bits
	Number       // an IEEE 754 double
	Bool
	Time // a date-time of RFC 3339, or a date, which is its midnight in UTC
	JSON // any value
)

// String returns the name of the type.
func (t Type) String() string {
	return [...]string{"text", "integer", "number", "boolean", "time", "json"}[t]
}

// More is the last column: what of a record the others cannot have, as a JSON
// object.
const More = "_more"

// maxColumns bounds the memory of an encoder, which has buffers for each. A rule has
// at most 200 fields, but 500 rules may be of one kind.
const maxColumns = 256

// usable returns the columns that an encoder makes: each name once, and only so
// many. What the others would have is in More.
func usable(columns []Column) []Column {
	seen := map[string]bool{"": true, More: true}
	out := make([]Column, 0, len(columns))
	for _, c := range columns {
		if !seen[c.Name] && len(out) < maxColumns {
			seen[c.Name] = true
			out = append(out, c)
		}
	}
	return out
}

// join returns the column for values of both, which have one name: scalars of several types are texts.
func (c Column) join(o Column) Column {
	switch low, high := min(c.Type, o.Type), max(c.Type, o.Type); {
	case c == o:
	case c.List != o.List || high == JSON:
		return Column{Name: c.Name, Type: JSON}
	case low == Integer && high == Number:
		c.Type = Number
	default:
		c.Type = Text
	}
	return c
}

// Host is the column after that of the URL that WithHost adds. It is made of the URL, and no member of the record.
const Host = "host"

// WithHost returns columns with Host, unless the records have a member of that name, or no URL.
func WithHost(columns []Column) []Column {
	url := slices.IndexFunc(columns, func(c Column) bool { return c == Column{Name: "url"} })
	if url < 0 || slices.ContainsFunc(columns, func(c Column) bool { return c.Name == Host }) {
		return columns
	}
	return slices.Insert(slices.Clone(columns), url+1, Column{Name: Host})
}

// isHost reports whether a column is that of WithHost.
func isHost(columns []Column, i int) bool {
	return i > 0 && columns[i] == Column{Name: Host} && columns[i-1] == Column{Name: "url"}
}

// hostOf returns the host of a URL, "" for another text.
func hostOf(url []byte) string {
	if !bytes.Contains(url, []byte("://")) {
		return ""
	}
	return weburl.Host(string(url))
}

// isMade reports whether a value of column i is what WithHost makes of that of the column before.
func isMade(columns []Column, i int, value, before []byte) bool {
	return isHost(columns, i) && len(value) > 0 && string(value) == hostOf(before)
}

// Union returns columns and others, joining those of one name: the joined one can have the values of both.
func Union(columns, others []Column) []Column {
	columns = slices.Clone(columns)
	for _, o := range others {
		i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == o.Name })
		if i < 0 {
			columns = append(columns, o)
			continue
		}
		columns[i] = columns[i].join(o)
	}
	return columns
}
