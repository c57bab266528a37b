package structured

import "seine/internal/base/jsontext"

// An Item is a thing that a page describes by microdata or RDFa.
type Item struct {
	Types      []string // in the page's order
	ID         string   // URL, or empty
	Properties []Property
}

// A Property is a name with its values, both in the page's order.
type Property struct {
	Name   string
	Values []Value
}

// A Value is an item, or text where Item is nil. URLs among the text are
// absolute.
type Value struct {
	Text string
	Item *Item
}

// Values returns the values of a property, or none.
func (i *Item) Values(name string) []Value {
	for _, p := range i.Properties {
		if p.Name == name {
			return p.Values
		}
	}
	return nil
}

// AppendJSON appends the item in the JSON form of the HTML standard (section
// 5.5): {"type": [...], "id": "...", "properties": {"name": [...]}}, where type
// and id may be missing.
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

// builder adds values to an item. It has an index of the names once they are
// many, as a page may have a million.
type builder struct {
	item  *Item
	index map[string]int
}

// indexFrom is the number of names from which on a map finds one faster.
const indexFrom = 12

func (b *builder) add(name string, v Value) {
	if i := b.find(name); i >= 0 {
		p := &b.item.Properties[i]
		p.Values = append(p.Values, v)
		return
	}
	if b.index != nil {
		b.index[name] = len(b.item.Properties)
	}
	b.item.Properties = append(b.item.Properties, Property{Name: name, Values: []Value{v}})
}

func (b *builder) find(name string) int {
	if b.index == nil && len(b.item.Properties) >= indexFrom {
		b.index = make(map[string]int, 2*indexFrom)
		for i, p := range b.item.Properties {
			b.index[p.Name] = i
		}
	}
	if b.index != nil {
		if i, ok := b.index[name]; ok {
			return i
		}
		return -1
	}
	for i := range b.item.Properties {
		if b.item.Properties[i].Name == name {
			return i
		}
	}
	return -1
}
