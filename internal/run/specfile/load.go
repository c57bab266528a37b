package specfile

import (
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

// Read reads a spec file and the seed files that it names. Errors of the spec are an *Errors.
func Read(name string) (*crawlspec.Spec, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read spec: %w", err)
	}
	defer f.Close()
	return ReadFrom(name, f)
}

// ReadFrom is Read for a spec from in. Errors use name for it.
func ReadFrom(name string, in io.Reader) (*crawlspec.Spec, error) {
	text, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read spec %s: %w", name, err)
	}
	root, found := parse(text)
	spec, err := load(name, text, root, found)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, fmt.Errorf("read spec %s: it is empty: write a key, such as seeds, or {} for the default spec", name)
	}
	return spec, readSeeds(name, text, spec)
}

// Has reports whether the text of a spec has a top-level key.
func Has(text []byte, key string) bool {
	var top map[string]any
	if root, _ := parse(text); root == nil || root.Load(&top) != nil {
		return false
	}
	_, has := top[key]
	return has
}

// Load reads a spec from a text. Missing keys have their defaults; an empty text is the default
// spec. It does not read seed files. Errors of the spec are an *Errors with the given name.
func Load(name string, text []byte) (*crawlspec.Spec, error) {
	root, found := parse(text)
	return load(name, text, root, found)
}

// load reads a spec from a parsed text. found are the problems of the parser.
func load(name string, text []byte, root *yaml.Node, found []Problem) (*crawlspec.Spec, error) {
	if len(found) > 0 {
		return nil, report(name, text, found)
	}
	if root == nil {
		spec := crawlspec.Default()
		return &spec, nil
	}
	w := walker{lines: linesOf(text)}
	w.value(root, specShape(), "", 0)
	t := tree{deref(root)}
	if found = w.problems; w.full || t.root.Kind != yaml.MappingNode || !t.removeBroken(found) {
		return nil, report(name, text, found)
	}
	spec, wrong := t.decode()
	if found = append(found, wrong...); len(found) > 0 {
		return nil, report(name, text, found)
	}
	return spec, nil
}

// decode converts the tree to a spec and validates it.
func (t tree) decode() (*crawlspec.Spec, []Problem) {
	spec := crawlspec.Default()
	text, err := yamljson.Convert(t.root, &spec)
	if err == nil {
		err = jsontext.Unmarshal(text, &spec)
	}
	if err != nil {
		return nil, t.decodeProblems(err)
	}
	if spec.V != messages.Version {
		at := t.find("v")
		return nil, []Problem{problemAt(at.node, at.path, fmt.Sprintf("is %d: this build reads version %d", spec.V, messages.Version))}
	}
	found := t.validationProblems(spec.Validate())
	for _, p := range t.validationProblems(compile(&spec)) {
		if !slices.ContainsFunc(found, func(o Problem) bool { return o.Line == p.Line && o.Column == p.Column }) {
			found = append(found, p)
		}
	}
	return &spec, found
}

// decodeProblems returns the errors of the YAML package that the walker did not report.
func (t tree) decodeProblems(err error) []Problem {
	var out []Problem
	for _, e := range loadErrors(err) {
		out = append(out, Problem{
			Line: e.Mark.Line, Column: e.Mark.Column, Path: t.pathOf(e.Mark.Line, e.Mark.Column),
			Text: strings.TrimPrefix(e.Message, "yaml: "), width: 1,
		})
	}
	return out
}

// validationProblems returns the problems of validation errors.
func (t tree) validationProblems(err error) (found []Problem) {
	for _, e := range crawlspec.FieldErrors(err) {
		at := t.find(e.Path)
		found = append(found, problemAt(at.node, at.path, choice(e.Err.Error())))
	}
	return found
}

// oneOf matches the error for a value that is not in a list.
var oneOf = lazyregexp.New(`^("[^"\\]*"): must be one of ([a-z_]+(?:, [a-z_]+)*)$`)

// choice adds the most similar valid value to such an error.
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
