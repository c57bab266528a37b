package specfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// tree is the spec in the form of the text.
type tree struct{ root *yaml.Node }

// nodeRef is a node with its path.
type nodeRef struct {
	node *yaml.Node
	path string
}

// find follows a path as far as it exists. Missing keys are reported at the parent.
func (t tree) find(path string) nodeRef {
	at := nodeRef{t.root, ""}
	for rest := path; rest != ""; {
		next, after, ok := t.step(at, rest)
		if !ok {
			if deref(at.node).Kind == yaml.MappingNode {
				at.path = join(at.path, rest)
			}
			return at // or at is the short form of a list or an object
		}
		at, rest = next, after
	}
	return at
}

// step returns the first member of a path.
func (t tree) step(at nodeRef, path string) (next nodeRef, rest string, ok bool) {
	node := deref(at.node)
	if path[0] == '[' {
		i, after, ok := cutIndex(path)
		if !ok || node.Kind != yaml.SequenceNode || i >= len(node.Content) {
			return nodeRef{}, "", false
		}
		return at.item(i), strings.TrimPrefix(after, "."), true
	}
	key, value, rest := member(node, path)
	if node.Kind != yaml.MappingNode || value == nil {
		return nodeRef{}, "", false
	}
	next = nodeRef{value, join(at.path, key.Value)}
	if isNull(value) {
		next.node = key
	}
	return next, rest, true
}

// item returns a member of a list.
func (r nodeRef) item(i int) nodeRef {
	return nodeRef{deref(r.node).Content[i], fmt.Sprintf("%s[%d]", r.path, i)}
}

// member returns the member of a mapping with which a path begins. Keys may contain dots.
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
	digits, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
	i, err := strconv.Atoi(digits)
	return i, rest, ok && err == nil && i >= 0
}

// harmless has a valid member for each list at the top level of a spec.
var harmless = map[string]string{
	"seeds": "https://example.org/", "sources": "{hosts: [example.org]}", "requests": "{match: x}", "priorities": "{match: x}",
	"recrawl": "{match: x, every: 1s}", "records": "{kind: x, fields: {x: {value: x}}}", "follow": "{css: a}",
}

// needs maps a key to another key that is validated against it.
var needs = map[string]string{"records": "mask", "chunks": "mask", "delay": "max_delay"}

// removeBroken removes the parts that have problems, so that the rest can be checked: an unknown key
// alone; otherwise a top-level key, or the affected members of a top-level list. It reports whether
// it could remove all problems.
func (t tree) removeBroken(problems []Problem) bool {
	for i := range problems {
		if u := problems[i].unknown; u != nil && u.correct() {
			continue
		}
		name := top(problems[i].Path)
		at := slices.IndexFunc(t.root.Content, func(n *yaml.Node) bool { return n.Value == name })
		if name == "" || at < 0 || at%2 != 0 {
			return false
		}
		t.remove(needs[name])
		list := deref(t.root.Content[at+1])
		if n, _, ok := cutIndex(problems[i].Path[len(name):]); ok && harmless[name] != "" && list.Kind == yaml.SequenceNode {
			member, err := nodeOf([]byte(harmless[name]))
			if err != nil {
				panic(err)
			}
			list.Content[n] = member.Content[0]
			continue
		}
		t.remove(name)
	}
	return true
}

// remove removes a top-level key.
func (t tree) remove(name string) {
	for i := 0; i < len(t.root.Content); i += 2 {
		if t.root.Content[i].Value == name {
			t.root.Content = slices.Delete(t.root.Content, i, i+2)
			return
		}
	}
}

// pathOf returns the path of the value at a position of the text.
func (t tree) pathOf(line, column int) string {
	best := nodeRef{t.root, ""}
	t.each(best, 0, func(p nodeRef) {
		if n := p.node; n.Line < line || n.Line == line && n.Column <= column {
			best = p
		}
	})
	return best.path
}

// each calls f for all nodes below a node, in the order of the text.
func (t tree) each(at nodeRef, depth int, f func(nodeRef)) {
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
			visit(at.item(i))
		case i%2 == 1:
			name := at.node.Content[i-1].Value
			visit(nodeRef{c, join(at.path, name)})
		}
	}
}
