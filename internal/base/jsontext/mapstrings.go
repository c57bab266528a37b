package jsontext

import (
	"encoding/json"
	"strconv"
)

// MapStrings applies change to each string in JSON text, including names of members. Different
// names stay different: see Names.
func MapStrings(text []byte, change func(string) string) []byte {
	out := make([]byte, 0, len(text))
	var open []Names // for each object or list that is still open
	for i := 0; i < len(text); {
		if text[i] != '"' {
			switch text[i] {
			case '{', '[':
				open = append(open, Names{})
			case '}', ']':
				open = open[:max(0, len(open)-1)]
			}
			out = append(out, text[i])
			i++
			continue
		}
		end := min(StringEnd(text, i), len(text))
		quoted := text[i:end]
		i = end
		var s string
		if json.Unmarshal(quoted, &s) != nil {
			out = append(out, quoted...)
			continue
		}
		changed := change(s)
		if next := skipSpace(text, i); next < len(text) && text[next] == ':' && len(open) > 0 {
			changed = open[len(open)-1].Unique(s, changed)
		}
		out = AppendString(out, changed)
	}
	return out
}

// Names are the changed names of the members of one object, such as "joe@a.example" and
// "ann@b.example" changed to "[email]". The zero value is empty.
type Names struct {
	given map[string]string // old name to new name
	taken map[string]int    // new name to the last number appended to it
}

// Unique returns the new name of a member whose name is changed from name to changed. If another
// member already has the new name, it appends a number in brackets, so that no member replaces
// another.
func (n *Names) Unique(name, changed string) string {
	if n.given == nil {
		n.given, n.taken = make(map[string]string), make(map[string]int)
	}
	if again, ok := n.given[name]; ok {
		return again
	}
	unique := changed
	for number, taken := n.taken[changed]; taken; _, taken = n.taken[unique] {
		number++
		unique = changed + " (" + strconv.Itoa(number) + ")"
		n.taken[changed] = number
	}
	n.given[name], n.taken[unique] = unique, 1
	return unique
}
