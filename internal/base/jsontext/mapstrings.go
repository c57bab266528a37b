package jsontext

import (
	"encoding/json"
	"strconv"
)

// MapStrings returns JSON text with each string, value or name of a member, replaced
// by what change makes of it. Names that were different stay different: see Names.
func MapStrings(text []byte, change func(string) string) []byte {
	out := make([]byte, 0, len(text))
	var open []Names // of each object or list that has not ended
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

// Names are the names of the members of one object that were changed, as "joe@a.example"
// and "ann@b.example" to "[email]". The zero value has none.
type Names struct {
	given map[string]string // the new names, by the old ones
	taken map[string]int    // the new names, and the last number given behind each
}

// Unique returns the name for a member that was called name and is to be called
// changed: that, or with a number in brackets behind it if another member has become
// the same, so that no member takes the place of another.
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
