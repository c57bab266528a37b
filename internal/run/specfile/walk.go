package specfile

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/suggest"
)

// Bounds of a spec.
const (
	// MaxSize is the largest text of a spec, in bytes, because a value in a NATS key-value bucket
	// is at most 1 MiB.
	MaxSize = 1 << 20
	// maxDepth bounds the nesting, because each level is a recursive call. Rules need about ten
	// levels.
	maxDepth = 100
	// maxValues bounds the number of values with aliases expanded: nine lines of aliases can expand
	// to a billion.
	maxValues = 200_000
)

// walker compares a tree with its schema.
type walker struct {
	lines    []string
	problems []Problem
	values   int
	full     bool // a bound was reached, so checking has stopped
}

func (w *walker) add(n *yaml.Node, path, format string, args ...any) {
	w.problems = append(w.problems, problemAt(n, path, fmt.Sprintf(format, args...)))
}

// problemAt returns a problem at a node.
func problemAt(n *yaml.Node, path, text string) Problem {
	return Problem{Line: n.Line, Column: n.Column, Path: path, Text: text, width: markWidth(n)}
}

// markWidth returns the length of a scalar in its line, 1 for other nodes.
func markWidth(n *yaml.Node) int {
	if n.Kind != yaml.ScalarNode || strings.Contains(n.Value, "\n") {
		return 1
	}
	quotes := 0
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		quotes = 2
	}
	return max(1, len([]rune(n.Value))+quotes)
}

// value compares the value at a path with its schema.
func (w *walker) value(n *yaml.Node, s *typeSchema, path string, depth int) {
	if !w.enter(n, path, depth) {
		return
	}
	if n.Kind == yaml.AliasNode {
		w.value(n.Alias, s, path, depth+1)
		return
	}
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str" {
		w.add(n, path, "a spec has no tags: take %s away", quoted(n.Tag))
		return
	}
	if isNull(n) {
		w.null(n, path)
		return
	}
	switch {
	case n.Kind == yaml.ScalarNode && s.short != nil:
		w.scalar(n, s.short, path)
	case s.form == formScalar:
		w.scalar(n, s, path)
	case s.form == formList:
		w.list(n, s, path, depth)
	case s.form == formAny:
		w.free(n, path, depth)
	default:
		w.object(n, s, path, depth)
	}
}

// enter counts a value, and reports whether to check it.
func (w *walker) enter(n *yaml.Node, path string, depth int) bool {
	if w.full {
		return false
	}
	switch w.values++; {
	case depth > maxDepth:
		w.add(n, top(path), "nests more than %d levels deep", maxDepth)
	case w.values > maxValues:
		w.add(n, top(path), "is too much: with its aliases the spec has more than %d values", maxValues)
	default:
		return true
	}
	w.full = true
	return false
}

// null reports a value that is empty because a comment begins in its place.
func (w *walker) null(n *yaml.Node, path string) {
	if n.Value != "" || n.Line < 1 || n.Line > len(w.lines) {
		return
	}
	line := []rune(w.lines[n.Line-1])
	rest := string(line[min(max(n.Column-1, 0), len(line)):])
	rest = strings.TrimLeft(strings.TrimPrefix(rest, ":"), " ")
	if len(rest) > 1 && rest[0] == '#' && rest[1] != ' ' && rest[1] != '#' {
		w.add(n, path, `is empty, since "#" begins a comment: write %s in quotes`, quoted(strings.TrimRight(rest, " \r}],")))
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// scalar reads a scalar into its Go type, to validate it.
func (w *walker) scalar(n *yaml.Node, s *typeSchema, path string) {
	if n.Kind != yaml.ScalarNode {
		w.add(n, path, "must be %s, not %s", wanted(s), have(n))
		return
	}
	err := n.Load(reflect.New(s.typ).Interface())
	if err == nil {
		return
	}
	if s.typ == reflect.TypeFor[netip.Prefix]() {
		w.add(n, path, "%s: must be a network, such as 10.1.0.0/16 or 192.0.2.7/32", quoted(n.Value))
		return
	}
	if s.isText() {
		for _, e := range loadErrors(err) {
			w.add(n, path, "%s", e.Message)
		}
		return
	}
	w.add(n, path, "must be %s, not %s", wanted(s), have(n))
}

// isText reports whether the type implements encoding.TextUnmarshaler.
func (s *typeSchema) isText() bool {
	return s.form == formScalar && reflect.PointerTo(s.typ).Implements(textUnmarshaler)
}

func (w *walker) list(n *yaml.Node, s *typeSchema, path string, depth int) {
	if n.Kind != yaml.SequenceNode {
		w.add(n, path, `must be a list, each member after "- " or all in [ ], not %s`, have(n))
		return
	}
	for i, c := range n.Content {
		w.value(c, s.elem, fmt.Sprintf("%s[%d]", path, i), depth+1)
	}
}

// object compares a mapping with an object or a map.
func (w *walker) object(n *yaml.Node, s *typeSchema, path string, depth int) {
	if n.Kind != yaml.MappingNode {
		w.add(n, path, "must be %s, not %s", wanted(s), have(n))
		return
	}
	w.members(n, path, func(key, value *yaml.Node) {
		if isMerge(key) {
			w.merge(value, s, path, depth+1)
			return
		}
		inner, at := s.elem, join(path, key.Value)
		if s.form == formObject {
			inner = s.key(key.Value)
		}
		if inner == nil {
			text, meant := unknown(key.Value, s)
			w.add(key, at, "%s", text)
			w.problems[len(w.problems)-1].unknown = &unknownKey{n, key, meant}
			if inner, at = s.key(meant), join(path, meant); inner == nil {
				return
			}
		}
		w.value(value, inner, at, depth+1)
	})
}

// members calls f for each member of a mapping. It reports keys that are not plain text, and
// repeated keys.
func (w *walker) members(n *yaml.Node, path string, f func(key, value *yaml.Node)) {
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content) && !w.full; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			w.add(n.Content[i], path, "a key must be a plain text: is this a template that needs quotes?")
			continue
		}
		if first := seen[key.Value]; first != nil {
			w.add(n.Content[i], join(path, key.Value), "is repeated; it is first in line %d", first.Line)
			continue
		}
		seen[key.Value] = n.Content[i]
		f(key, value)
	}
}

// merge compares the value of "<<" with the object that it is merged into.
func (w *walker) merge(n *yaml.Node, s *typeSchema, path string, depth int) {
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			w.merge(c, s, path, depth+1)
		}
		return
	}
	w.value(n, s, path, depth+1)
}

// free checks a value of any form.
func (w *walker) free(n *yaml.Node, path string, depth int) {
	switch n.Kind {
	default: // any scalar is valid
	case yaml.SequenceNode:
		for i, c := range n.Content {
			w.any(c, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	case yaml.MappingNode:
		w.members(n, path, func(key, value *yaml.Node) { w.any(value, join(path, key.Value), depth+1) })
	}
}

// any is like free for a nested value.
func (w *walker) any(n *yaml.Node, path string, depth int) {
	if !w.enter(n, path, depth) {
		return
	}
	if n.Kind == yaml.AliasNode {
		w.any(n.Alias, path, depth+1)
		return
	}
	w.free(n, path, depth)
}

func isMerge(key *yaml.Node) bool { return key.ShortTag() == "!!merge" }

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// top returns the first key of a path, which keeps messages about deep paths short.
func top(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// fewKeys is the number of known keys up to which an error lists them all.
const fewKeys = 12

// elsewhere maps names of other crawlers to Seine's keys.
var elsewhere = map[string]string{
	"retry": "max_attempts", "retries": "max_attempts", "max_retries": "max_attempts",
	"start_urls": "seeds", "urls": "seeds", "url": "seeds", "allowed_domains": "scope", "depth": "max_depth", "depth_limit": "max_depth",
	"rate_limit": "delay", "download_delay": "delay", "wait": "delay", "crawl_delay": "delay", "concurrency": "per_host",
	"limit": "max_pages", "pages": "max_pages", "agent": "user_agent", "cron": "schedule", "email": "contact", "allow": "include",
	"deny": "exclude", "robots_txt": "robots", "rules": "records", "items": "records", "name": "kind", "selector": "css", "type": "as",
	"javascript": "render", "js": "render", "browser": "render", "headless": "render",
	"url_pattern": "match", "pattern": "match", "attr": "get", "attribute": "get",
	"list": "all", "multiple": "all", "many": "all", "array": "all", "re": "regex", "regexp": "regex", "fallback": "default",
}

// unknown describes an unknown key. meant is the key of the object that the author probably
// intended, "" if there is none.
func unknown(name string, s *typeSchema) (text, meant string) {
	if below := s.below(name); below != "" {
		return fmt.Sprintf("unknown key: did you mean %s?", below), ""
	}
	known := s.names()
	if meant = elsewhere[name]; !slices.Contains(known, meant) {
		meant = suggest.Name(name, known)
	}
	switch {
	case meant != "":
		return fmt.Sprintf("unknown key: did you mean %s?", meant), meant
	case len(known) <= fewKeys:
		return "unknown key; known keys: " + strings.Join(slices.Sorted(slices.Values(known)), ", "), ""
	}
	return "unknown key (docs/reference/spec.md lists all keys)", ""
}

// unknownKey is an unknown key of a mapping, and the intended key if that is known.
type unknownKey struct {
	mapping, key *yaml.Node
	meant        string
}

// correct renames an unknown key to the intended one, or removes it, so that the rest can be
// checked. It reports whether it could.
func (u *unknownKey) correct() bool {
	_, has, _ := member(u.mapping, u.meant)
	i := slices.Index(u.mapping.Content, u.key)
	switch {
	case u.meant != "" && has == nil:
		u.key.Value = u.meant
	case i < 0 || len(u.mapping.Content) == 2:
		return false
	default:
		u.mapping.Content = slices.Delete(u.mapping.Content, i, i+2)
	}
	return true
}

// wanted describes the valid values of a schema.
func wanted(s *typeSchema) string {
	switch {
	case s.typ == alertsType:
		return "off, or keys such as error_rate, no_progress and webhook"
	case s.typ == renderType:
		return "never, auto or always, or keys such as mode, wait and block"
	case s.typ == seedType:
		return "a URL, or one of the keys url, sitemap and file"
	case s.form == formObject && s.short != nil:
		return "a CSS selector, or keys such as css, xpath and jq"
	case s.form == formObject:
		return "keys with values (" + strings.Join(s.names()[:min(3, len(s.keys))], ", ") + ", …)"
	case s.form == formMap:
		return "names with values"
	case s.isText():
		return "a plain text"
	}
	switch s.typ.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	default:
		return "a text"
	}
}

// have describes a value.
func have(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		if flowTemplate(n) {
			return "keys with values: a template that begins with { needs quotes"
		}
		return "keys with values"
	default:
		return quoted(n.Value)
	}
}

// flowTemplate reports whether a mapping looks like {name}, a template without quotes.
func flowTemplate(n *yaml.Node) bool {
	return n.Style&yaml.FlowStyle != 0 && len(n.Content) == 2 && isNull(n.Content[1])
}

// quoted returns a text in quotes, truncated if it is long.
func quoted(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
