package crawlspec

import (
	"fmt"
	"strings"

	"seine/pkg/messages"
)

// check reports errors of a field in an object at a nesting depth.
func (f *Field) check(p *Problems, path string, depth int) {
	f.Selector.check(p, path)
	f.checkSource(p, path)
	f.checkGet(p, path)
	f.checkTransforms(p, path)
	switch {
	case f.Map != nil && len(f.Fields) > 0:
		p.Addf(path+".map", "there are fields already: only one of map and fields")
	case f.Map != nil:
		f.Map.Key.check(p, path+".map.key", depth+1)
		f.Map.Value.check(p, path+".map.value", depth+1)
	case len(f.Fields) > 0:
		f.Fields.check(p, path+".fields", depth+1)
	}
	f.checkDefault(p, path)
}

// checkSource reports a field without a source, or with two.
func (f *Field) checkSource(p *Problems, path string) {
	given := f.given()
	if f.From != "" {
		given = append(given, "from")
		f.checkFrom(p, path+".from")
	}
	if f.Value != nil {
		p.template(path+".value", *f.Value)
		if len(given) > 0 || f.Regex != "" || f.JQ != "" || f.Get != "" {
			p.Addf(path+".value", "excludes selectors and get: it is a complete value")
		}
		return
	}
	switch {
	case len(given) > 1 && f.From != "":
		p.Addf(path+".from", "there is %s already: only one of both", given[0])
	case len(given) == 0 && f.Regex == "" && f.JQ == "" && f.Get == "":
		p.Addf(path, "selects nothing: give css, xpath, jq, json_ld, meta, regex, get, from or value")
	}
}

func (f *Field) checkFrom(p *Problems, path string) {
	if name, ok := strings.CutPrefix(f.From, "header:"); ok {
		if !attribute().MatchString(name) {
			p.Addf(path, "%q: must be header: and the name of a header field", messages.Clip(f.From))
		}
		return
	}
	if name, ok := strings.CutPrefix(f.From, "page:"); ok {
		p.oneOf(path, name, PageFieldsOfRules())
		return
	}
	switch f.From {
	case "url", "status", "text", "html":
	default:
		p.Addf(path, "%q: must be url, status, text, html, header:NAME or page:NAME", messages.Clip(f.From))
	}
}

func (f *Field) checkGet(p *Problems, path string) {
	if f.Get == "" {
		return
	}
	p.get(path+".get", f.Get)
	switch {
	case f.JSONLD != "" || f.Meta != "" || f.From != "":
		p.Addf(path+".get", "is of elements: it needs css, xpath or each")
	case f.Map != nil || len(f.Fields) > 0:
		p.Addf(path+".get", "has no meaning beside map and fields")
	}
}

func (f *Field) checkTransforms(p *Problems, path string) {
	if f.As != "" {
		p.oneOf(path+".as", f.As, Conversions)
	}
	number, date := f.As == "number" || f.As == "integer", f.As == "date"
	switch {
	case f.Decimal != "" && f.Decimal != "." && f.Decimal != ",":
		p.Addf(path+".decimal", `%q: must be "." or ","`, messages.Clip(f.Decimal))
	case f.Decimal != "" && !number:
		p.Addf(path+".decimal", "is for as: number")
	}
	if len(f.Layout) > 0 && !date {
		p.Addf(path+".layout", "is for as: date")
	}
	if f.TimeZone != "" && !date {
		p.Addf(path+".timezone", "is for as: date")
	}
	if len(f.Replace) > maxReplace {
		p.Addf(path+".replace", "%d replacements: at most %d", len(f.Replace), maxReplace)
	}
	for i, r := range f.Replace {
		at := fmt.Sprintf("%s.replace[%d]", path, i)
		if r.Regex == "" {
			p.Addf(at+".regex", "is missing")
		}
		p.long(at+".regex", r.Regex)
		p.long(at+".with", r.With)
	}
	p.long(path+".split", f.Split)
	f.checkObject(p, path)
}

// checkObject reports keys that have no meaning if the value is an object.
func (f *Field) checkObject(p *Problems, path string) {
	if f.Map == nil && len(f.Fields) == 0 {
		return
	}
	for _, e := range [...]struct {
		key   string
		given bool
	}{
		{"as", f.As != ""}, {"replace", len(f.Replace) > 0}, {"trim", f.Trim != nil}, {"split", f.Split != ""},
		{"all", f.All && f.Map != nil},
	} {
		if e.given {
			p.Addf(path+"."+e.key, "has no meaning beside map and fields")
		}
	}
}
