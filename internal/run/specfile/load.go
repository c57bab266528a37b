package specfile

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"seine/internal/base/jsontext"
	"seine/internal/base/lazyregexp"
	"seine/internal/base/suggest"
	"seine/internal/base/yamljson"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Read reads the spec in a file, and the seeds in the files that it names. What is wrong
// with the spec is an *Errors.
func Read(name string) (*crawlspec.Spec, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read spec: %w", err)
	}
	defer f.Close()
	return ReadFrom(name, f)
}

// ReadFrom is Read for a spec that comes from in, of which errors say that it is name.
func ReadFrom(name string, in io.Reader) (*crawlspec.Spec, error) {
	text, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read spec %s: %w", name, err)
	}
	spec, err := Load(name, text)
	if err != nil {
		return nil, err
	}
	return spec, readSeeds(name, text, spec)
}

// Has reports whether a text that is a spec says something of a key at its top.
func Has(text []byte, key string) bool {
	var top map[string]any
	if root, _ := parse(text); root == nil || root.Load(&top) != nil {
		return false
	}
	_, has := top[key]
	return has
}

// maxRounds is how many parts of a spec are found wrong one after the other.
const maxRounds = 20

// Load reads a spec from a text. What the text lacks has its default; an empty
// text is the default spec. Files that seeds name are not read. What is wrong is an *Errors, in which the text has
// that name.
func Load(name string, text []byte) (*crawlspec.Spec, error) {
	root, found := parse(text)
	if len(found) > 0 {
		return nil, report(name, text, found)
	}
	if root == nil {
		spec := crawlspec.Default()
		return &spec, nil
	}
	w := walker{lines: linesOf(text)}
	w.value(root, specShape(), "", 0)
	if found = w.problems; w.full || deref(root).Kind != yaml.MappingNode {
		return nil, report(name, text, found)
	}
	t := &tree{root: deref(root), left: make(map[string][]int)}
	more := len(found) == 0 || t.dropAll(found)
	for range maxRounds {
		if !more {
			break
		}
		spec, wrong := t.decode()
		if len(wrong) == 0 {
			if len(found) == 0 {
				return spec, nil
			}
			break
		}
		found, more = append(found, wrong...), t.dropAll(wrong)
	}
	return nil, report(name, text, t.withRules(found))
}

// dropAll takes the parts with problems away. It reports whether there were any.
func (t *tree) dropAll(problems []Problem) bool {
	dropped := false
	for i := range problems {
		p := &problems[i]
		if p.unknown != nil && p.unknown.correct() || t.drop(cmp.Or(p.Path, p.part)) {
			dropped = true
		}
	}
	return dropped
}

// decode makes a spec of the tree, and checks it.
func (t *tree) decode() (*crawlspec.Spec, []Problem) {
	spec := crawlspec.Default()
	text, err := yamljson.Convert(t.root, &spec)
	if err == nil {
		err = jsontext.Unmarshal(text, &spec)
	}
	if err != nil {
		return nil, t.unread(err)
	}
	if spec.V != messages.Version {
		at := t.find("v")
		return nil, []Problem{problemAt(at.node, at.path, fmt.Sprintf("is %d: this build reads version %d", spec.V, messages.Version))}
	}
	rules := compile(&spec)
	if err := spec.Validate(); err != nil {
		if rules != nil { // the part that is dropped now may have more of them
			t.rules = append(t.rules, t.invalid(rules)...)
		}
		return nil, t.invalid(err)
	}
	if rules != nil {
		return nil, t.invalid(rules)
	}
	return &spec, nil
}

// withRules adds to what was found what is wrong with rules elsewhere.
func (t *tree) withRules(found []Problem) []Problem {
	for _, p := range t.rules {
		if !slices.ContainsFunc(found, func(o Problem) bool { return o.Line == p.Line && o.Column == p.Column }) {
			found = append(found, p)
		}
	}
	return found
}

// unread are errors of the YAML package that the walk did not foresee.
func (t *tree) unread(err error) []Problem {
	var out []Problem
	for _, e := range loadErrors(err) {
		out = append(out, Problem{
			Line: e.Mark.Line, Column: e.Mark.Column, Path: t.pathOf(e.Mark.Line, e.Mark.Column),
			Text: strings.TrimPrefix(e.Message, "yaml: "), width: 1,
		})
	}
	return out
}

// invalid are errors in what was read.
func (t *tree) invalid(err error) []Problem {
	var out []Problem
	for _, e := range crawlspec.FieldErrors(err) {
		at := t.find(e.Path)
		out = append(out, problemAt(at.node, at.path, choice(e.Err.Error())))
	}
	if len(out) > 0 {
		return out
	}
	at, text := t.inWords(err.Error())
	p := problemAt(at.node, at.path, text)
	if p.Path == "" {
		p.part = at.now // a key at the top: no list has lost members on the way
	}
	return []Problem{p}
}

// oneOf matches the refusal of a value that is not in a list.
var oneOf = lazyregexp.New(`^("[^"\\]*"): must be one of ([a-z_]+(?:, [a-z_]+)*)$`)

// choice adds to a text which of the few was meant, most likely.
func choice(text string) string {
	m := oneOf().FindStringSubmatch(text)
	if m == nil {
		return text
	}
	if near := suggest.Name(strings.Trim(m[1], `"`), strings.Split(m[2], ", ")); near != "" {
		return fmt.Sprintf("%s: did you mean %s? It must be one of %s", m[1], near, m[2])
	}
	return text
}
