package extract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"seine/internal/base/truncate"
	"seine/internal/page/document"
	"seine/pkg/crawlspec"
)

// field is a compiled crawlspec.Field.
type field struct {
	name     string
	selector *selector
	from     string
	value    *template
	before   map[string]bool // with value: names of the preceding fields
	get      string
	replace  []replace
	trim     bool
	split    string
	all      bool
	convert  conversion
	key, val *field // of a map
	fields   []*field
	object   bool // has fields
	fallback any
	required bool
	count    fieldCount
}

type replace struct {
	regex *pattern
	with  string
}

// fields compiles fields that are relative to inputs of a kind.
func (c *compiler) fields(fs crawlspec.Fields, path string, in inputKind) []*field {
	out := make([]*field, 0, len(fs))
	for i := range fs {
		f := c.field(&fs[i].Field, path+"."+fs[i].Name, in)
		f.name = fs[i].Name
		if f.value != nil {
			f.before = namesOf(out)
		}
		if f.key != nil { // notes name the field itself
			f.key.name, f.val.name = f.name, f.name
		}
		out = append(out, f)
	}
	return out
}

func namesOf(fields []*field) map[string]bool {
	names := make(map[string]bool, len(fields))
	for _, f := range fields {
		names[f.name] = true
	}
	return names
}

func (c *compiler) field(m *crawlspec.Field, path string, in inputKind) *field {
	f := &field{
		from: m.From, get: m.Get, trim: m.Trim == nil || *m.Trim, split: m.Split, all: m.All,
		required: m.Required, object: len(m.Fields) > 0,
	}
	var found inputKind
	if f.selector, found = c.selector(m.Selector, path, in); !f.all && m.Map == nil {
		f.selector.first()
	}
	f.convert = c.conversion(m, path)
	c.get(m, path, in)
	if m.Value != nil {
		f.value = compileTemplate(*m.Value)
	}
	if f.get == "" {
		f.get = f.defaultGet()
	}
	for i, r := range m.Replace {
		re, err := compilePattern(r.Regex)
		c.failed(fmt.Sprintf("%s.replace[%d].regex", path, i), err)
		f.replace = append(f.replace, replace{re, r.With})
	}
	whole := f.selector.regex == nil && f.selector.jq == nil && len(f.replace) == 0 && f.split == ""
	if f.get == getText && whole && (m.As == "number" || m.As == "integer") {
		f.get = getNumber
	}
	if m.Map != nil {
		f.key, f.val = c.field(&m.Map.Key, path+".map.key", found), c.field(&m.Map.Value, path+".map.value", found)
	}
	f.fields = c.fields(m.Fields, path+".fields", found)
	f.fallback = c.constant(m.Default, path+".default")
	return f
}

// defaultGet is the visible text, unless a regular expression or jq searches the item.
func (f *field) defaultGet() string {
	switch bare := f.selector.bare() && f.from == ""; {
	case bare && f.selector.regex != nil:
		return getOuter
	case f.selector.jq != nil:
		return getRaw
	}
	return getText
}

// get reports a Get that has no meaning here.
func (c *compiler) get(m *crawlspec.Field, path string, in inputKind) {
	if m.Get == "" {
		return
	}
	bare := m.CSS == "" && m.XPath == ""
	switch {
	case bare && (in == amongValues || in == amongTexts):
		c.failed(path+".get", fmt.Errorf("%s have none: it is of elements", in))
	case bare && in == amongPage && strings.HasPrefix(m.Get, "@"):
		c.failed(path+".get", fmt.Errorf("the document has no attributes: give css or xpath"))
	case m.Get == getMarkdown:
		c.needs(path+".get", getMarkdown, treeTypes)
	}
}

func (c *compiler) constant(v crawlspec.Value, path string) any {
	if v == nil {
		return nil
	}
	out, _, err := document.Value(v)
	c.failed(path, err)
	return out
}

// errMissing is returned for a required field that found nothing.
type errMissing struct{ field string }

func (e *errMissing) Error() string { return e.field + ": required, but nothing was found" }

// object returns the members of an object that have values, and the number of them that were
// selected as opposed to made up.
func (r *run) object(fields []*field, in item) (m members, selected int, err error) {
	if len(fields) == 0 {
		return nil, 0, nil
	}
	m = make(members, 0, len(fields))
	for _, f := range fields {
		r.field = f.name
		v, ok, err := f.eval(r, in, m)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			note(&f.count.found)
		}
		switch {
		case ok && f.isFound():
			selected++
		case ok:
		case f.required:
			return nil, 0, &errMissing{f.name}
		case f.fallback != nil:
			v = f.fallback
		case f.isList():
			v = []any{}
		default:
			continue
		}
		m = append(m, member{f.name, v})
	}
	return m, selected, nil
}

// isFound reports whether a value of the field comes from the page's content. Constants do not, nor
// do values that every page has.
func (f *field) isFound() bool {
	everywhere := f.value != nil || f.from == "url" || f.from == "status"
	return !everywhere || f.selector.regex != nil
}

func (f *field) isList() bool { return f.all || f.split != "" }

// eval returns the value of a field relative to an item, or false if it found nothing. fields are
// the preceding fields.
func (f *field) eval(r *run, in item, fields members) (any, bool, error) {
	switch {
	case f.value != nil:
		text, missing, err := f.value.fill(func(name string) (string, bool) { return r.lookup(fields, f.before, name) })
		if missing != "" || err != nil {
			return nil, false, err
		}
		if err := r.spend(len(text)); err != nil {
			return nil, false, err
		}
		return f.gather(func(yield func(any) bool) error { return f.finish(r, textItem(text), yield) })
	case f.object:
		return f.gather(func(yield func(any) bool) error { return f.objects(r, in, yield) })
	case f.key != nil:
		return f.mapped(r, in)
	case f.from != "":
		from := f.source(r, in)
		return f.gather(func(yield func(any) bool) error { return f.finish(r, from, yield) })
	}
	return f.gather(func(yield func(any) bool) error { return f.selected(r, in, yield) })
}

// selected yields the values of the selected items. Without all, it yields those of the first item
// that has any.
func (f *field) selected(r *run, in item, yield func(any) bool) error {
	var failed error
	more, found := true, false
	err := f.selector.source(r, in, func(i item) bool {
		failed = f.finishOne(r, in, i, func(v any) bool {
			more, found = yield(v), true
			return more
		})
		return more && failed == nil && (f.all || !found)
	})
	if failed != nil {
		return failed
	}
	return err
}

// gather collects the first value, or all values of a list.
func (f *field) gather(values func(yield func(any) bool) error) (any, bool, error) {
	var first any
	var list []any
	err := values(func(v any) bool {
		if !f.isList() {
			first = v
			return false
		}
		list = append(list, v)
		return len(list) < MaxValues
	})
	if err != nil {
		return nil, false, err
	}
	if f.isList() {
		return list, len(list) > 0, nil
	}
	return first, first != nil, nil
}

// objects yields an object for each selected item that has values.
func (f *field) objects(r *run, in item, yield func(any) bool) error {
	var failed error
	err := jqRun{r}.allAhead(f.selector, in, f.fields, func(i item) bool {
		m, selected, err := r.object(f.fields, i)
		if missing := (*errMissing)(nil); asMissing(err, &missing) {
			r.note(r.index, f.name+"."+missing.field, "required, but nothing was found: the object is left out")
			return true
		}
		if err != nil {
			failed = err
			return false
		}
		return selected == 0 || yield(m)
	})
	if failed != nil {
		return failed
	}
	return err
}

// mapped returns an object with a member for each selected item. If a key repeats, the first one
// counts.
func (f *field) mapped(r *run, in item) (any, bool, error) {
	var m members
	var failed error
	seen := make(map[string]bool)
	err := f.selector.all(r, in, func(i item) bool {
		var key, value any
		var ok bool
		if key, ok, failed = f.key.eval(r, i, nil); failed != nil || !ok {
			return failed == nil
		}
		name, ok := scalar(key)
		if !ok || seen[name] {
			return true
		}
		if value, ok, failed = f.val.eval(r, i, nil); failed != nil || !ok {
			return failed == nil
		}
		seen[name] = true
		m = append(m, member{name, value})
		return len(m) < MaxValues
	})
	if failed != nil {
		err = failed
	}
	return m, len(m) > 0, err
}

// source returns the item that From names.
func (f *field) source(r *run, in item) item {
	if name, ok := strings.CutPrefix(f.from, "header:"); ok {
		return textItem(strings.Join(http.Header(r.doc.Header).Values(name), ", "))
	}
	if name, ok := strings.CutPrefix(f.from, "page:"); ok {
		v, err := r.doc.PageField(name)
		if err != nil {
			r.note(r.index, f.name, "%v", err)
		}
		return valueItem(v)
	}
	switch f.from {
	case "url":
		return textItem(r.doc.URL)
	case "status":
		return valueItem(json.Number(strconv.Itoa(r.doc.Status)))
	}
	get := getText
	if f.from == "html" {
		get = getOuter
	} else if f.get == getNumber {
		get = getNumber
	}
	text, err := r.get(in, get)
	if err != nil {
		r.note(r.index, f.name, "%v", err)
	}
	return textItem(text)
}

// finish makes values of a selected item.
func (f *field) finish(r *run, i item, yield func(any) bool) error {
	return f.finishOne(r, i, i, yield)
}

// finishOne makes values of one item that was selected from another: get, regex, replace, trim, jq,
// split, as.
func (f *field) finishOne(r *run, in, i item, yield func(any) bool) error {
	jq := f.selector.jq
	if jq != nil && f.selector.jqFirst(r, in) && f.from == "" {
		jq = nil
	}
	if i.kind == itemValue && jq == nil && !f.isText(i.value) {
		note(&f.count.seen)
		_, err := f.converted(r, i.value, yield)
		return err
	}
	text, err := r.get(i, f.get)
	if err != nil {
		return err
	}
	for text, err := range f.selector.matches(r, text) {
		if err == nil {
			text, err = f.clean(r, text)
		}
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		note(&f.count.seen)
		more := true
		if jq == nil {
			more, err = f.pieces(r, text, yield)
		} else {
			_, err = r.parsed(text, jq, func(i item) bool {
				more, err = f.pieces(r, i.value, yield)
				return more && err == nil
			})
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// isText reports whether a JSON value is processed as text.
func (f *field) isText(v any) bool {
	switch v.(type) {
	case string:
		return true
	case []any, map[string]any:
		return f.selector.regex != nil
	}
	text := f.convert.as == "" && f.selector.xpath != nil // text is the default of xpath
	return text || f.selector.regex != nil || len(f.replace) > 0 || f.split != ""
}

func (f *field) clean(r *run, text string) (string, error) {
	for _, p := range f.replace {
		var err error
		if text, err = p.regex.replaceAll(text, p.with, r.spend); err != nil {
			return "", err
		}
	}
	if f.trim {
		text = strings.TrimSpace(text)
	}
	return text, nil
}

// pieces splits a text and converts the pieces.
func (f *field) pieces(r *run, v any, yield func(any) bool) (more bool, err error) {
	text, ok := v.(string)
	if !ok || f.split == "" {
		return f.converted(r, v, yield)
	}
	for piece := range strings.SplitSeq(text, f.split) {
		if f.trim {
			piece = strings.TrimSpace(piece)
		}
		if more, err = f.converted(r, piece, yield); !more || err != nil {
			return more, err
		}
	}
	return true, nil
}

func (f *field) converted(r *run, v any, yield func(any) bool) (more bool, err error) {
	if v == nil || v == "" {
		return true, nil
	}
	if err := r.spend(1); err != nil {
		return false, err
	}
	out, ok := f.convert.value(r, v)
	if !ok {
		r.note(r.index, f.name, "%q: is no %s", shorten(textOfValue(v)), f.convert.as)
		return true, nil
	}
	return out == "" || yield(out), nil
}

// shorten truncates a text for a note.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return truncate.To(s, most) + "…"
}
