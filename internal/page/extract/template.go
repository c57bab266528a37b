package extract

import (
	"net/url"
	"strings"

	"seine/pkg/crawlspec"
)

// template is a compiled crawlspec.Template: literal, placeholder, literal, ….
type template struct {
	literals []string
	places   []crawlspec.Placeholder
}

func compileTemplate(t crawlspec.Template) *template {
	const mark = "\x00"
	clean := crawlspec.Template(strings.ReplaceAll(string(t), mark, ""))
	marked, _ := clean.Fill(func(crawlspec.Placeholder) (string, error) { return mark, nil })
	return &template{literals: strings.Split(marked, mark), places: clean.Placeholders()}
}

// fill returns the text with each placeholder replaced by its value. If one has no value and no
// default, missing is its name. The error is errMade.
func (t *template) fill(value func(name string) (string, bool)) (text, missing string, err error) {
	var b strings.Builder
	for i, place := range t.places {
		b.WriteString(t.literals[i])
		v, ok := value(place.Name)
		switch {
		case !ok && !place.HasDefault:
			return "", place.Name, nil
		case !ok:
			v = place.Default
		}
		if b.Len()+len(v) > maxMade {
			return "", "", errMade
		}
		b.WriteString(v)
	}
	b.WriteString(t.literals[len(t.literals)-1])
	return b.String(), "", nil
}

// fillURL is fill with each value percent-encoded for its position: in a path, so that it stays one
// segment, or in a query. A value at the very start is a URL, or the start of one, and is not
// encoded.
func (t *template) fillURL(value func(name string) (string, bool)) (text, missing string, err error) {
	literal, at := "", -1
	return t.fill(func(name string) (string, bool) {
		at++
		literal += t.literals[at]
		v, ok := value(name)
		switch {
		case at == 0 && literal == "":
		case strings.Contains(literal, "?"):
			v = url.QueryEscape(v)
		default:
			v = url.PathEscape(v)
		}
		return v, ok
	})
}

// lookup returns the value of a name in a template: that of a field, a group of the rule's pattern,
// or a parameter of the URL. A field without a match has no value, even if something else has its
// name; own are the names of fields.
func (r *run) lookup(fields members, own map[string]bool, name string) (string, bool) {
	if v, ok := fields.get(name); ok {
		return scalar(v)
	}
	if own[name] {
		return "", false
	}
	if v, ok := r.groups[name]; ok {
		return v, v != ""
	}
	v, ok := r.doc.Parameter(name)
	return v, ok && v != ""
}

// scalar returns the text of a scalar value for a template, and false for lists and objects.
func scalar(v any) (string, bool) {
	switch v.(type) {
	case nil, []any, map[string]any, members:
		return "", false
	}
	s := textOfValue(v)
	return s, s != ""
}
