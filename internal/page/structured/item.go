package structured

import "seine/internal/base/jsontext"

// Item is a thing that a page describes by microdata or RDFa.
type Item struct {
	Types      []string // in the page's order
	ID         string   // URL, or empty
	Properties []Property
}

// Property is a name with its values, both in document order.
type Property struct {
	Name   string
	Values []Value
}

// Value is an item, or text if Item is nil. URLs in Text are absolute.
type Value struct {
	Text string
	Item *Item
}

// Values returns the values of a property, or nil.
func (i *Item) Values(name string) []Value {
	for _, p := range i.Properties {
		if p.Name == name {
			return p.Values
		}
	}
	return nil
}

// AppendJSON appends the item in the JSON form of the HTML standard (section 5.5): {"type": [...],
// "id": "...", "properties": {"name": [...]}}, where type and id may be missing.
func (i *Item) AppendJSON(b []byte) []byte {
	o := jsontext.Object{B: b}
	if len(i.Types) > 0 {
		o.Texts("type", i.Types)
	}
	o.TextSet("id", i.ID)
	o.Key("properties")
	properties := jsontext.Object{B: o.B}
	for _, p := range i.Properties {
		properties.Key(p.Name)
		properties.B = jsontext.AppendList(properties.B, p.Values, appendValue)
	}
	o.B = properties.End()
	return o.End()
}

// MarshalJSON is AppendJSON for encoding/json.
func (i *Item) MarshalJSON() ([]byte, error) {
	return i.AppendJSON(nil), nil
}

// AppendItems appends a list of items in their JSON form.
func AppendItems(b []byte, items []*Item) []byte {
	return jsontext.AppendList(b, items, func(b []byte, i *Item) []byte { return i.AppendJSON(b) })
}

func appendValue(b []byte, v Value) []byte {
	if v.Item != nil {
		return v.Item.AppendJSON(b)
	}
	return jsontext.AppendString(b, v.Text)
}

// builder adds values to an item. It has an index of the names, as a page may have a million.
type builder struct {
	item  *Item
	index map[string]int
}

func (b *builder) add(name string, v Value) {
	i, known := b.index[name]
	if !known {
		if b.index == nil {
			b.index = map[string]int{}
		}
		i = len(b.item.Properties)
		b.index[name] = i
		b.item.Properties = append(b.item.Properties, Property{Name: name})
	}
	p := &b.item.Properties[i]
	p.Values = append(p.Values, v)
}
