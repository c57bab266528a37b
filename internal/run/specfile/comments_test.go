package specfile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
)

// source has the comments and constants of the Go source of pkg/crawlspec.
type source struct {
	types  map[string]string   // comments of types
	fields map[string]string   // of fields, as in "Spec.MaxPages"
	values map[string][]string // constants of string types

	known map[string]map[string]string // YAML keys, by type and field
	keys  map[string]string            // and by field only
}

func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{
		types: make(map[string]string), fields: make(map[string]string), values: make(map[string][]string),
		known: make(map[string]map[string]string), keys: make(map[string]string),
	}
	files, err := filepath.Glob("../../../pkg/crawlspec/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source: %v", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				s.declared(g)
			}
		}
	}
	s.translate()
	return s
}

// translate replaces field names in the comments with keys.
func (s *source) translate() {
	for _, of := range slices.Sorted(maps.Keys(s.known)) {
		for name, key := range s.known[of] {
			if old := s.keys[name]; old == "" || key < old {
				s.keys[name] = key
			}
		}
	}
	for of, text := range s.types {
		s.types[of] = s.inYAML(text, s.known[of])
	}
	for name, text := range s.fields {
		of, _, _ := strings.Cut(name, ".")
		s.fields[name] = s.inYAML(text, s.known[of])
	}
}

func (s *source) declared(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = oneLine(g.Doc, spec.Doc)
			if st, ok := spec.Type.(*ast.StructType); ok {
				s.structure(spec.Name.Name, st)
			}
		case *ast.ValueSpec:
			of, ok := spec.Type.(*ast.Ident)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value)
					s.values[of.Name] = append(s.values[of.Name], text)
				}
			}
		}
	}
}

// structure collects the comments of fields. A field without one has the comment of the previous
// field, if that names it.
func (s *source) structure(of string, st *ast.StructType) {
	keys := make(map[string]string)
	for _, f := range st.Fields.List {
		if name := jsonName(f); name != "" && len(f.Names) == 1 {
			keys[f.Names[0].Name] = name
		}
	}
	last := ""
	for _, f := range st.Fields.List {
		if len(f.Names) != 1 {
			continue
		}
		name := f.Names[0].Name
		text := oneLine(f.Doc, f.Comment)
		if text == "" && strings.Contains(" "+last, " "+name+" ") {
			text = last
		} else if f.Doc != nil {
			last = text
		}
		s.fields[of+"."+name] = text
		s.known[of] = keys
	}
}

func jsonName(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	m := regexp.MustCompile(`json:"([a-z0-9_]+)`).FindStringSubmatch(f.Tag.Value)
	if m == nil {
		return ""
	}
	return m[1]
}

// oneLine joins comments up to the first code example.
func oneLine(groups ...*ast.CommentGroup) string {
	var parts []string
	for _, g := range groups {
		if g == nil {
			continue
		}
		for line := range strings.Lines(g.Text()) {
			if strings.HasPrefix(line, "\t") {
				break
			}
			parts = append(parts, strings.Fields(line)...)
		}
	}
	return strings.Join(parts, " ")
}

var (
	// words are field names that are also words.
	words = []string{"URL", "CSS", "JQ", "TLS", "XPath", "Schema"}

	word = regexp.MustCompile(`[A-Za-z]+`)
	// listed matches references to the Go lists of values, because a schema has the values itself.
	listed = regexp.MustCompile(`(,? |^)of (PageFields|LinkKinds|MaskKinds|DocumentTypes|BlockTypes)\b`)
	// humps matches Go names that are not words.
	humps = regexp.MustCompile(`^[A-Z][a-z]+[A-Z]`)
)

// inYAML replaces the names of Go fields with their keys: fields of the same struct, and others
// with unambiguous names.
func (s *source) inYAML(text string, keys map[string]string) string {
	text = strings.ReplaceAll(listed.ReplaceAllString(text, ""), " nil is", " none is")
	return word.ReplaceAllStringFunc(text, func(w string) string {
		switch key, ok := keys[w]; {
		case slices.Contains(words, w):
			return w
		case w == "MaxDistance":
			return strconv.Itoa(crawlspec.MaxDistance)
		case ok:
			return key
		case humps.MatchString(w) && s.keys[w] != "":
			return s.keys[w]
		}
		return w
	})
}
