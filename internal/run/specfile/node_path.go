package specfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/lazyregexp"
)

// tree is the spec as it was written, less the parts that were found wrong.
type tree struct {
	root *yaml.Node
	// left has, for a key of the spec whose list lost members, which those that
	// are left were.
	left map[string][]int
	// rules are what is wrong with selectors and expressions of rules, found while
	// something else was.
	rules []Problem
}

// nodeRef is where a path leads in a tree.
type nodeRef struct {
	node *yaml.Node
	now  string // the path in the tree as it is
	path string // and as it was written
}

// find follows a path of the tree as it is, as far as it goes. A part that is
// missing is reported where it should be.
func (t *tree) find(path string) nodeRef {
	at := nodeRef{node: t.root}
	for rest := path; rest != ""; {
		next, after, ok := t.step(at, rest)
		if !ok {
			if deref(at.node).Kind == yaml.MappingNode {
				at.path, at.now = join(at.path, rest), path
			}
			return at // or the short form of a list or an object
		}
		at, rest = next, after
	}
	return at
}

// step goes to the member that a path begins with.
func (t *tree) step(at nodeRef, path string) (next nodeRef, rest string, ok bool) {
	node := deref(at.node)
	if path[0] == '[' {
		i, after, ok := cutIndex(path)
		if !ok || node.Kind != yaml.SequenceNode || i >= len(node.Content) {
			return nodeRef{}, "", false
		}
		return t.item(at, i), strings.TrimPrefix(after, "."), true
	}
	key, value, rest := member(node, path)
	if node.Kind != yaml.MappingNode || value == nil {
		return nodeRef{}, "", false
	}
	next = nodeRef{node: value, now: join(at.now, key.Value), path: join(at.path, key.Value)}
	if isNull(value) {
		next.node = key
	}
	return next, rest, true
}

// item is a member of a list.
func (t *tree) item(at nodeRef, i int) nodeRef {
	written := i
	if was := t.left[at.now]; was != nil {
		written = was[i]
	}
	return nodeRef{
		node: deref(at.node).Content[i],
		now:  fmt.Sprintf("%s[%d]", at.now, i), path: fmt.Sprintf("%s[%d]", at.path, written),
	}
}

// member finds the member of a mapping that a path begins with: its name may have
// dots.
func member(n *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := deref(n.Content[i])
		after, ok := strings.CutPrefix(path, k.Value)
		if k.Kind != yaml.ScalarNode || !ok || after != "" && after[0] != '.' && after[0] != '[' {
			continue
		}
		if key == nil || len(k.Value) > len(key.Value) {
			key, value, rest = k, n.Content[i+1], strings.TrimPrefix(after, ".")
		}
	}
	return key, value, rest
}

func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func cutIndex(path string) (i int, rest string, ok bool) {
	digits, rest, ok := strings.Cut(path[1:], "]")
	i, err := strconv.Atoi(digits)
	return i, rest, ok && err == nil && i >= 0
}

// drop takes the part of the spec with a path as it was written away, so that
// the rest can be checked: a field of a rule, else the member of a list at the top, or a
// key there. What is wrong with one rule would otherwise make others look wrong.
func (t *tree) drop(path string) bool {
	name := top(path)
	at := slices.IndexFunc(t.root.Content, func(n *yaml.Node) bool { return n.Value == name })
	if name == "" || at < 0 || at%2 != 0 || at+1 >= len(t.root.Content) {
		return false
	}
	list := deref(t.root.Content[at+1])
	rest := path[len(name):]
	if list.Kind != yaml.SequenceNode || !strings.HasPrefix(rest, "[") {
		t.root.Content = slices.Delete(t.root.Content, at, at+2)
		return true
	}
	was := t.left[name]
	if was == nil {
		for i := range list.Content {
			was = append(was, i)
		}
	}
	i, _, _ := cutIndex(rest)
	i = slices.Index(was, i)
	if i < 0 {
		return false
	}
	if _, field, in := strings.Cut(rest, "].fields."); in && neutralise(list.Content[i], field) {
		return true
	}
	list.Content = slices.Delete(list.Content, i, i+1)
	t.left[name] = slices.Delete(was, i, i+1)
	return true
}

// neutralise puts a constant in the place of a field of a rule, as others may name it. It
// reports whether that was not done before.
func neutralise(rule *yaml.Node, field string) bool {
	_, fields, _ := member(deref(rule), "fields")
	if fields == nil {
		return false
	}
	name, f, _ := member(deref(fields), field)
	if f == nil || isTwice(deref(fields), name.Value) || f.Anchor != "" || f.Kind == yaml.AliasNode || slices.Contains(f.Content, neutral) {
		return false
	}
	*f = yaml.Node{Kind: yaml.MappingNode, Line: f.Line, Column: f.Column, Content: []*yaml.Node{neutral, {Kind: yaml.ScalarNode, Value: "x"}}}
	return true
}

func isTwice(mapping *yaml.Node, key string) bool {
	n := 0
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			n++
		}
	}
	return n > 1
}

var neutral = &yaml.Node{Kind: yaml.ScalarNode, Value: "value"}

// numbered is how Spec.Validate names the member of a list.
var numbered = lazyregexp.New(`^number (\d+)$`)

// inWords is where an error of Spec.Validate leads that has no path:
// it begins with the keys, as in "sources: number 2: breaker: wait 1s: must …".
// It returns what is left of the text.
func (t *tree) inWords(text string) (nodeRef, string) {
	at := nodeRef{node: t.root}
	for {
		word, rest, ok := strings.Cut(text, ": ")
		if !ok {
			break
		}
		if m := numbered().FindStringSubmatch(word); m != nil {
			n, _ := strconv.Atoi(m[1])
			word = fmt.Sprintf("[%d]", n-1)
		}
		next, after, ok := t.step(at, word)
		if !ok || after != "" {
			break
		}
		at, text = next, rest
	}
	return t.within(at, text), text
}

// quotedStart is the value that a text is about, at its beginning or after a word.
var quotedStart = lazyregexp.New(`^(?:[a-z_]+ )?("(?:[^"\\]|\\.)*")`)

// within goes one step further: to the member of a list that the text quotes, or
// to the key that it begins with.
func (t *tree) within(at nodeRef, text string) nodeRef {
	node := deref(at.node)
	if m := quotedStart().FindStringSubmatch(text); m != nil && node.Kind == yaml.SequenceNode {
		value, err := strconv.Unquote(m[1])
		i := slices.IndexFunc(node.Content, func(n *yaml.Node) bool { return deref(n).Value == value })
		if err == nil && i >= 0 {
			return t.item(at, i)
		}
	}
	word, _, _ := strings.Cut(text, " ")
	if word = strings.TrimRight(word, ":,"); word == "" {
		return at
	}
	if next, after, ok := t.step(at, word); ok && after == "" {
		at.node, at.now = next.node, next.now // the text itself says the key
	}
	return at
}

// pathOf returns the path of the value at a place of the text, as it was written.
func (t *tree) pathOf(line, column int) string {
	best := nodeRef{node: t.root}
	t.each(best, 0, func(p nodeRef) {
		if n := p.node; n.Line < line || n.Line == line && n.Column <= column {
			best = p
		}
	})
	return best.path
}

// each calls f for all that is in a value, in the order of the text.
func (t *tree) each(at nodeRef, depth int, f func(nodeRef)) {
	if at.node.Kind == yaml.AliasNode || depth > maxDepth {
		return
	}
	visit := func(p nodeRef) {
		f(p)
		t.each(p, depth+1, f)
	}
	for i, c := range at.node.Content {
		switch {
		case at.node.Kind == yaml.SequenceNode:
			visit(t.item(at, i))
		case i%2 == 1:
			name := at.node.Content[i-1].Value
			visit(nodeRef{node: c, now: join(at.now, name), path: join(at.path, name)})
		}
	}
}
