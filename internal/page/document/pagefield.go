package document

// TellPageFields sets the function that returns what the record of the page has as one of
// crawlspec.PageFields, as JSON, to rules that ask for it.
func (d *Document) TellPageFields(field func(name string) []byte) {
	d.pageField, d.fields = field, make(map[string]lazy[any])
}

// PageField returns what the record of the page has as a field, nil if that is unknown.
func (d *Document) PageField(name string) (any, error) {
	if d.pageField == nil {
		return nil, nil
	}
	o := d.fields[name]
	v, err := o.get(func() (any, error) {
		v, _, err := Value(d.pageField(name))
		return v, err
	})
	d.fields[name] = o
	return v, err
}

// PageText is PageField of a field that is a text, "" if that is unknown.
func (d *Document) PageText(name string) string {
	v, _ := d.PageField(name) // what the parser writes is JSON
	s, _ := v.(string)
	return s
}
