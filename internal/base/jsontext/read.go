package jsontext

import (
	"encoding/json"
	"strconv"
)

// Reader reads one object as Object writes it: known members in a known order, any
// of which may be missing, without spaces. It is for what is read for every page,
// where encoding/json costs several times as much. Other JSON means the same in
// other words; of that Done says false, what was read means nothing, and
// encoding/json is to read it. So a Reader need not know all of JSON, and accepts
// nothing that encoding/json would not, or would read as something else.
type Reader struct {
	text []byte // what is left
	lead byte   // what is before the next member: '{' or ','
	odd  bool
}

// NewReader returns a reader of the object that is text.
func NewReader(text []byte) Reader { return Reader{text: text, lead: '{'} }

// Done reports whether all of the text was one object and has been read.
func (r *Reader) Done() bool {
	r.end()
	return !r.odd && len(r.text) == 0
}

// Member reports whether the next member has the name; its value is next then.
func (r *Reader) Member(name string) bool {
	t, n := r.text, len(name)
	if len(t) < n+4 || t[0] != r.lead || t[1] != '"' || string(t[2:2+n]) != name || t[2+n] != '"' || t[3+n] != ':' {
		return false
	}
	r.text, r.lead = t[n+4:], ','
	return true
}

// end reads the end of an object that has members; others are not written.
func (r *Reader) end() {
	if r.lead != ',' || !r.skip('}') {
		r.odd = true
	}
}

// skip reads c if it is next.
func (r *Reader) skip(c byte) bool {
	if len(r.text) == 0 || r.text[0] != c {
		return false
	}
	r.text = r.text[1:]
	return true
}

// Text reads a member that is a string.
func (r *Reader) Text(name string, to *string) {
	if r.Member(name) {
		*to = r.string()
	}
}

// Int reads a member that is a whole number.
func (r *Reader) Int(name string, to *int) {
	if r.Member(name) {
		r.IntValue(to)
	}
}

// IntValue reads a value that is a whole number.
func (r *Reader) IntValue(to *int) {
	var err error
	*to, err = strconv.Atoi(string(r.number()))
	r.odd = r.odd || err != nil
}

// Int64 reads a member that is a whole number.
func (r *Reader) Int64(name string, to *int64) {
	if r.Member(name) {
		var err error
		*to, err = strconv.ParseInt(string(r.number()), 10, 64)
		r.odd = r.odd || err != nil
	}
}

// Uint64 reads a member that is a whole number from 0.
func (r *Reader) Uint64(name string, to *uint64) {
	if r.Member(name) {
		var err error
		*to, err = strconv.ParseUint(string(r.number()), 10, 64)
		r.odd = r.odd || err != nil
	}
}

// Bool reads a member that is true; one that is false is not written.
func (r *Reader) Bool(name string, to *bool) {
	const yes = "true"
	if !r.Member(name) {
		return
	}
	if len(r.text) < len(yes) || string(r.text[:len(yes)]) != yes {
		r.odd = true
		return
	}
	*to, r.text = true, r.text[len(yes):]
}

// Value reads a member that is a string or a whole number, by what makes of that
// JSON text what encoding/json would: an UnmarshalJSON. It reports whether there
// is the member.
func (r *Reader) Value(name string, unmarshal func(text []byte) error) bool {
	if !r.Member(name) {
		return false
	}
	text := r.number
	if len(r.text) > 0 && r.text[0] == '"' {
		text = r.quoted
	}
	if unmarshal(text()) != nil {
		r.odd = true
	}
	return true
}

// TextValue reads a member that is a string, by what makes a value of it: an
// UnmarshalText.
func (r *Reader) TextValue(name string, unmarshal func(text []byte) error) {
	if !r.Member(name) {
		return
	}
	if text := r.quoted(); len(text) < 2 || unmarshal(text[1:len(text)-1]) != nil {
		r.odd = true
	}
}

// Object reads a member that is an object with members, by a function that reads
// these.
func (r *Reader) Object(name string, members func()) {
	if r.Member(name) {
		r.object(members)
	}
}

func (r *Reader) object(members func()) {
	r.lead = '{'
	members()
	r.end()
}

// Objects reads a member that is a list of objects, which is not empty, by a
// function that reads the members of one.
func (r *Reader) Objects(name string, members func()) {
	if r.Member(name) {
		r.list(func() { r.object(members) })
	}
}

func (r *Reader) list(one func()) {
	if !r.skip('[') {
		r.odd = true
		return
	}
	for one(); !r.odd && r.skip(','); {
		one()
	}
	if !r.skip(']') {
		r.odd = true
	}
}

// Lists reads a member that is an object of lists of strings, none of them empty.
func (r *Reader) Lists(name string, to *map[string][]string) {
	if !r.Member(name) {
		return
	}
	lists := make(map[string][]string)
	r.lead = '{'
	for !r.odd && r.skip(r.lead) {
		r.lead = ','
		key := r.string()
		if !r.skip(':') {
			r.odd = true
		}
		var list []string
		r.list(func() { list = append(list, r.string()) })
		lists[key] = list
	}
	r.end()
	*to = lists
}

// Texts reads a member that is an object of strings, with one or more.
func (r *Reader) Texts(name string, to *map[string]string) {
	if !r.Member(name) {
		return
	}
	texts := make(map[string]string)
	r.lead = '{'
	for !r.odd && r.skip(r.lead) {
		r.lead = ','
		key := r.string()
		if !r.skip(':') {
			r.odd = true
		}
		texts[key] = r.string()
	}
	r.end()
	*to = texts
}

// number reads a whole number, as JSON has it (RFC 8259 section 6).
func (r *Reader) number() []byte {
	t, i := r.text, 0
	if len(t) > 0 && t[0] == '-' {
		i++
	}
	first := i
	for i < len(t) && t[i] >= '0' && t[i] <= '9' {
		i++
	}
	if i == first || t[first] == '0' && i > first+1 {
		r.odd = true
	}
	r.text = t[i:] // if it is no whole number, no member begins there
	return t[:i]
}

// quoted reads a string that stands for itself, and returns it with its quotes.
func (r *Reader) quoted() []byte {
	t := r.text
	if end := plainEnd(t); end > 0 {
		r.text = t[end:]
		return t[:end]
	}
	r.odd = true
	return nil
}

// string reads a string.
func (r *Reader) string() string {
	t := r.text
	if end := plainEnd(t); end > 0 {
		r.text = t[end:]
		return string(t[1 : end-1])
	}
	var s string
	end := stringEnd(t, 0)
	if len(t) == 0 || t[0] != '"' || json.Unmarshal(t[:end], &s) != nil {
		r.odd = true
		return ""
	}
	r.text = t[end:]
	return s
}

// plainEnd returns the index behind the string that t begins with, 0 if there is
// none, or one with anything but ASCII that stands for itself.
func plainEnd(t []byte) int {
	if len(t) == 0 || t[0] != '"' {
		return 0
	}
	for i := 1; i < len(t); i++ {
		switch c := t[i]; {
		case c == '"':
			return i + 1
		case c < ' ' || c == '\\' || c >= 0x80:
			return 0
		}
	}
	return 0
}
