package format

import (
	"bytes"
	"slices"

	"seine/internal/base/weburl"
)

// Column is a column of the records of a kind.
type Column struct {
	Name string
	Type Type
	List bool // values are lists of Type
}

// String returns the column's type as written in the log.
func (c Column) String() string {
	if c.List {
		return listOfType + c.Type.String()
	}
	return c.Type.String()
}

// Type is the type of the values of a column.
type Type int

// Types of values. A value that does not fit its column's type goes to the column More.
const (
	Text    Type = iota
	Integer      // 64-bit integer
	Number       // an IEEE 754 double
	Bool
	Time // an RFC 3339 date-time, or a date, which means midnight UTC
	JSON // any value
)

// String returns the name of the type.
func (t Type) String() string {
	return [...]string{"text", "integer", "number", "boolean", "time", "json"}[t]
}

// More is the last column: the members of a record that fit no other column, as a JSON object.
const More = "_more"

// maxColumns bounds the memory of an encoder, which has buffers for each column. A rule has at most
// 200 fields, but 500 rules may share one kind.
const maxColumns = 256

// usable returns the columns that an encoder writes: each name once, and at most maxColumns.
// Members of dropped columns go to More.
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

// join returns a column for the values of both, which have the same name: scalars of different
// types become text.
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

// Host is the name of the column that WithHost adds after the URL. Its values are derived from the
// URL; records have no such member.
const Host = "host"

// WithHost inserts Host into columns, unless the records have a member of that name or no URL.
func WithHost(columns []Column) []Column {
	url := slices.IndexFunc(columns, func(c Column) bool { return c == Column{Name: "url"} })
	if url < 0 || slices.ContainsFunc(columns, func(c Column) bool { return c.Name == Host }) {
		return columns
	}
	return slices.Insert(slices.Clone(columns), url+1, Column{Name: Host})
}

// isHost reports whether column i was added by WithHost.
func isHost(columns []Column, i int) bool {
	return i > 0 && columns[i] == Column{Name: Host} && columns[i-1] == Column{Name: "url"}
}

// hostOf returns the host of a URL, or "" if the text is not a URL.
func hostOf(url []byte) string {
	if !bytes.Contains(url, []byte("://")) {
		return ""
	}
	return weburl.Host(string(url))
}

// isMade reports whether value, in column i, is the host that WithHost derives from the column
// before.
func isMade(columns []Column, i int, value, before []byte) bool {
	return isHost(columns, i) && len(value) > 0 && string(value) == hostOf(before)
}

// Union returns columns and others. It joins columns of the same name, so that the result can hold
// the values of both.
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
