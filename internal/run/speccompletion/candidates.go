package speccompletion

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// place is where the cursor was found.
type place struct {
	start, end int         // bytes of the line that have the text there
	in         *collection // whose key it is, or may be
	colon      bool        // the key has its colon
	value      *schema     // of which it is the value, or may be
	alone      bool        // in its line, or after dashes: keys of an object may be there
	flow, json bool
	space      bool // a blank is missing before it
	comma      int  // byte of the line where a comma is missing before it, 0 if none is
	key        *Key // that the place is in
	dead       bool // nothing may be written

	// awaits is true until the next key: it may be one of the object in which depth collections are open.
	awaits bool
	depth  int
}

// in reports whether the cursor is in or at a text of the line.
func (r *reader) in(start, end int) bool { return r.here && r.cursor >= start && r.cursor <= end }

func (r *reader) foundKey(start, end int, colon bool) {
	t := r.top()
	r.found = &place{start: start, end: end, in: t, colon: colon, flow: t.flow, json: t.json, key: r.about(r.open[:len(r.open)-1])}
}

func (r *reader) foundValue(start, end int) {
	t := r.top()
	r.found = &place{start: start, end: end, value: r.slot(), flow: r.inFlow(), json: t != nil && t.flow && t.json, key: r.aboutKey()}
}

// inside notes that the cursor is where nothing is completed.
func (r *reader) inside() {
	if r.here && r.found == nil {
		r.found = &place{start: r.cursor, end: r.cursor, dead: true, key: r.aboutKey()}
	}
}

// aboutKey is what is known of the key that was read last.
func (r *reader) aboutKey() *Key { return r.about(r.open) }

// about is what is known of the key that collections are open in.
func (r *reader) about(open []*collection) *Key {
	var path, at string
	of, key := r.root, (*schema)(nil)
	for _, c := range open {
		switch {
		case c.list:
			at += "[]"
			of = of.items()
		case c.key == "":
			of = nil
		default:
			at = strings.TrimPrefix(at+"."+c.key, ".")
			of = of.member(c.key)
			key, path = of, at
		}
		if of == nil {
			return nil
		}
	}
	if key == nil {
		return nil
	}
	return &Key{Path: path, Type: key.typeName(), About: key.Description, Default: string(key.Default)}
}

// candidates are what may be written for a word.
func (p *place) candidates(w word) (all []Candidate) {
	switch {
	case p.dead:
		return nil
	case p.value == nil && p.in != nil:
		all = p.keys(p.in.schema, w, "")
	default:
		all = p.values(p.value, w, "")
		switch items := p.value.items(); {
		case !p.alone:
		case items != nil && w.start == w.end:
			all = append(p.values(items, w, "- "), p.keys(items, w, "- ")...)
		default:
			all = append(all, p.keys(p.value, w, "")...)
		}
	}
	return matching(all, w.before)
}

// keys are those of an object that are not set.
func (p *place) keys(s *schema, w word, before string) (all []Candidate) {
	o := s.object()
	if o == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		if p.in != nil && p.in.set[name] {
			continue
		}
		of := o.Properties[name]
		insert := p.quoted(name, w)
		if !p.colon {
			insert += ":" + p.afterColon(of, w.indent+len(before))
		}
		all = append(all, Candidate{name, p.spaced(before + insert), of.typeName(), sentence(of.Description)})
	}
	return all
}

// afterColon is what a value begins with: in lines of its own if it is no word.
func (p *place) afterColon(s *schema, indent int) string {
	pad := "\n" + strings.Repeat(" ", indent+2)
	switch {
	case p.flow || s.isScalar():
		return " "
	case s.items() != nil:
		return pad + "- "
	}
	return pad
}

func (p *place) values(s *schema, w word, before string) (all []Candidate) {
	values, texts := s.values()
	if s.items() != nil && values == nil && p.flow {
		return nil // brackets are missing
	}
	for _, v := range values {
		insert := v
		if texts {
			insert = p.scalar(v, w)
		}
		all = append(all, Candidate{Name: v, Insert: p.spaced(before + insert)})
	}
	return all
}

// spaced is a text with what is missing before it.
func (p *place) spaced(text string) string {
	switch {
	case p.comma > 0:
		return ", " + text
	case p.space:
		return " " + text
	}
	return text
}

// quoted is a name as others are written there.
func (p *place) quoted(name string, w word) string {
	quote := w.quote
	if quote == "" && p.json {
		quote = `"`
	}
	return quote + name + quote
}

// scalar is a text, in quotes if it needs them.
func (p *place) scalar(value string, w word) string {
	if w.quote == "" && !p.json && isPlain(value) {
		return value
	}
	if w.quote == "'" {
		return "'" + value + "'"
	}
	text, _ := json.Marshal(value) // it is a text
	return string(text)
}

// isPlain reports whether YAML reads a text without quotes as that text.
func isPlain(value string) bool {
	var back any
	return yaml.Load([]byte(value), &back) == nil && back == any(value) && !strings.ContainsAny(value, ",[]{}")
}

// matching are the candidates that have a text in their names; those that begin with it come first.
func matching(all []Candidate, text string) (out []Candidate) {
	text = strings.ToLower(text)
	var others []Candidate
	for _, c := range all {
		switch i := strings.Index(strings.ToLower(c.Name), text); {
		case i == 0:
			out = append(out, c)
		case i > 0:
			others = append(others, c)
		}
	}
	return append(out, others...)
}
