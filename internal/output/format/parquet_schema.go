package format

import (
	"cmp"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// schemaOf returns the schema of a chunk: its columns in their order, and More.
func schemaOf(kind string, columns []Column) *parquet.Schema {
	root := ordered{Group: make(parquet.Group, len(columns)+1)}
	for _, c := range columns {
		root.add(c.Name, nodeOf(c))
	}
	root.add(More, nodeOf(Column{Type: JSON}))
	return parquet.NewSchema(cmp.Or(kind, "record"), root)
}

// leafPath returns the path of the leaf that holds the values of a column.
func leafPath(c Column) []string {
	if c.List {
		return []string{c.Name, "list", "element"}
	}
	return []string{c.Name}
}

func nodeOf(c Column) parquet.Node {
	n := parquet.Optional(leafOf(c.Type))
	if c.List {
		n = parquet.Optional(parquet.List(n))
	}
	return n
}

// leafOf returns the node of a type. Texts use the plain encoding: the compressor finds
// repetitions, and a dictionary for each column would take memory.
func leafOf(t Type) parquet.Node {
	switch t {
	case Integer:
		return parquet.Leaf(parquet.Int64Type)
	case Number:
		return parquet.Leaf(parquet.DoubleType)
	case Bool:
		return parquet.Leaf(parquet.BooleanType)
	case Time:
		return parquet.Timestamp(parquet.Microsecond)
	case JSON:
		return parquet.Encoded(parquet.JSON(), &parquet.Plain)
	default:
		return parquet.Encoded(parquet.String(), &parquet.Plain)
	}
}

// ordered is a group whose fields keep their order. A parquet.Group sorts them by name.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o *ordered) add(name string, n parquet.Node) {
	o.Group[name] = n
	o.fields = append(o.fields, field{n, name})
}

// Fields returns the fields in their order.
func (o ordered) Fields() []parquet.Field { return o.fields }

// field is a named node.
type field struct {
	parquet.Node
	name string
}

// Name returns the name.
func (f field) Name() string { return f.name }

// Value is for rows that are Go maps, which this package does not use.
func (f field) Value(base reflect.Value) reflect.Value {
	return base.MapIndex(reflect.ValueOf(&f.name).Elem())
}
