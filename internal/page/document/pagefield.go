package document

// TellPageFields sets the function that returns a field of the page's record, one of
// crawlspec.PageFields, as JSON. Rules that need the field call it.
func (d *Document) TellPageFields(field func(name string) []byte) {
	d.pageField, d.fields = field, make(map[string]lazy[any])
}

// PageField returns a field of the page's record, or nil if it is unknown.
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

// PageText is PageField for a text field. It returns "" if the field is unknown.
func (d *Document) PageText(name string) string {
	v, _ := d.PageField(name) // the parser writes valid JSON
	s, _ := v.(string)
	return s
}
