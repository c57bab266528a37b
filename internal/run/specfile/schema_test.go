package specfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"seine/pkg/crawlspec"
)

// object is a JSON object, whose members encoding/json sorts by name.
type object = map[string]any

// choices are the values of keys that Go's types do not define.
var choices = map[string][]string{
	"PageOutput.Fields":  crawlspec.PageFields,
	"LinkRules.Follow":   crawlspec.LinkKinds,
	"Mask.Kinds":         crawlspec.MaskKinds,
	"Target.Types":       crawlspec.DocumentTypes,
	"Chunks.Types":       crawlspec.ChunkTypes,
	"Field.As":           crawlspec.Conversions,
	"Field.Decimal":      {".", ","},
	"RequestRule.Method": crawlspec.Methods,
	"TLS.MinVersion":     crawlspec.TLSVersions,
	"Spec.Schemes":       {"http", "https"},
	"RenderBlock.Types":  crawlspec.BlockTypes,
	"RenderAction.Press": crawlspec.RenderKeys,
	"RenderPrint.Format": crawlspec.PaperFormats,
}

// required are the keys that a rule must have.
var required = map[string][]string{
	"HostRule": {"hosts"}, "RecordRule": {"kind", "fields"}, "RequestRule": {"match"}, "PriorityRule": {"match"},
	"RecrawlRule": {"match"}, "Replace": {"regex"}, "Paginate": {"parameter", "while"},
	"RenderRule":  {"match", "mode"},
	"RenderLogin": {"url", "script"},
}

// forms are types with their own text format.
var forms = map[reflect.Type]object{
	reflect.TypeFor[crawlspec.Duration](): {
		"type": []string{"string", "integer"}, "examples": []string{"500ms", "1s", "2h", "7d"},
		"pattern": `^-?([0-9]+d)?([0-9.]+(ns|us|µs|μs|ms|s|m|h))*$|^0$`,
	},
	reflect.TypeFor[crawlspec.Bytes](): {
		"type": []string{"string", "integer"}, "examples": []string{"512KiB", "32MiB", "1GB"},
		"pattern": `^\s*[0-9]+\s*([KMGT]iB|[kKMGT]?B)?\s*$`,
	},
	reflect.TypeFor[crawlspec.Rate](): {"type": "string", "examples": []string{"10/s", "30/m", "1/5s"}, "pattern": `^$|^[0-9.eE+]+/.+$`},
}

// generator generates the schema from shapes.
type generator struct {
	src  *source
	defs object
}

func (g *generator) root() object {
	out := g.objectOf(specShape())
	out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	out["title"] = "Seine crawl spec"
	out["description"] = g.src.types["Spec"]
	out["$defs"] = g.defs
	setDefaults(out, g.defs)
	return out
}

// of returns the schema of a value.
func (g *generator) of(s *typeSchema) object {
	var out object
	switch s.form {
	case formAny:
		return object{}
	case formList:
		out = object{"type": "array", "items": g.of(s.elem)}
	case formMap:
		out = object{"type": "object", "additionalProperties": g.of(s.elem)}
	case formObject:
		name := s.typ.Name()
		if _, known := g.defs[name]; !known {
			g.defs[name] = nil // in progress
			def := g.objectOf(s)
			def["description"] = g.src.types[name]
			g.defs[name] = def
		}
		out = object{"$ref": "#/$defs/" + name}
	default:
		out = g.scalar(s.typ)
	}
	if s.short != nil {
		return object{"anyOf": []any{g.of(s.short), out}}
	}
	return out
}

func (g *generator) scalar(t reflect.Type) object {
	if form, ok := forms[t]; ok {
		return maps.Clone(form)
	}
	if values := g.src.values[t.Name()]; t.Kind() == reflect.String && len(values) > 0 {
		return object{"enum": values}
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	default: // a text
	}
	if t == reflect.TypeFor[crawlspec.Template]() {
		return object{"type": []string{"string", "number", "boolean"}}
	}
	return object{"type": "string"}
}

func (g *generator) objectOf(s *typeSchema) object {
	properties := make(object, len(s.keys))
	for _, k := range s.keys {
		p := g.of(k.shape)
		name := k.owner.Name() + "." + k.field.Name
		if values := choices[name]; values != nil {
			p = choose(k.shape, values)
		}
		if text := g.comment(k); text != "" {
			p = with(p, "description", text)
		}
		properties[k.name] = p
	}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if keys := required[s.typ.Name()]; keys != nil {
		out["required"] = keys
	}
	return out
}

// comment returns the source's comment on a key, on the key that it is derived from, or on its
// type.
func (g *generator) comment(k key) string {
	if text := g.src.fields[k.owner.Name()+"."+k.field.Name]; text != "" {
		return text
	}
	if k.owner == reflect.TypeFor[crawlspec.HostRule]() {
		if text := cmp.Or(g.src.fields["Politeness."+k.field.Name], g.src.fields["Spec."+k.field.Name]); text != "" {
			return text
		}
	}
	s := k.shape
	if s.form == formList {
		s = s.elem
	}
	if s.form == formObject || len(g.src.values[s.typ.Name()]) > 0 {
		return g.src.types[s.typ.Name()]
	}
	return ""
}

// choose returns the schema of a string, or of a list of strings, from a set of values.
func choose(s *typeSchema, values []string) object {
	one := object{"enum": values}
	if s.form != formList {
		return one
	}
	list := object{"type": "array", "items": one, "uniqueItems": true}
	if s.short != nil {
		return object{"anyOf": []any{one, list}}
	}
	return list
}

func with(o object, key string, value any) object {
	o = maps.Clone(o)
	o[key] = value
	return o
}

// setDefaults adds the defaults of a spec: those of the top-level keys and of the objects there.
func setDefaults(root, defs object) {
	spec := crawlspec.Default()
	var values object
	if err := json.Unmarshal(spec.Encode(), &values); err != nil {
		panic(err)
	}
	delete(values, "v")
	var set func(schema, values object)
	set = func(schema, values object) {
		for name, value := range values {
			property, ok := schema["properties"].(object)[name].(object)
			if !ok {
				continue
			}
			inner, isObject := value.(object)
			ref, isRef := property["$ref"].(string)
			if isObject && isRef {
				set(defs[strings.TrimPrefix(ref, "#/$defs/")].(object), inner)
				continue
			}
			property["default"] = value
		}
	}
	set(root, values)
	var render object
	text, err := json.Marshal(crawlspec.DefaultRender())
	if err == nil {
		err = json.Unmarshal(text, &render)
	}
	if err != nil {
		panic(err)
	}
	set(defs["Render"].(object), render)
}

func TestSchemaIsUpToDate(t *testing.T) {
	g := &generator{src: readSource(t), defs: make(object)}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(g.root()); err != nil {
		t.Fatal(err)
	}
	golden(t, "schema.json", b.String())
}

// The tables above name Go fields, so a renamed field must be renamed here too.
func TestSchemaTables(t *testing.T) {
	names := make(map[string]bool)
	seen := make(map[*typeSchema]bool)
	var visit func(s *typeSchema)
	visit = func(s *typeSchema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for _, k := range s.keys {
			names[k.owner.Name()+"."+k.field.Name] = true
			visit(k.shape)
		}
		for _, name := range required[s.typ.Name()] {
			if s.key(name) == nil {
				t.Errorf("%s has no key %s", s.typ.Name(), name)
			}
		}
		visit(s.elem)
	}
	visit(specShape())
	for name := range choices {
		if !names[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("spec.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("spec.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fits reports whether a text conforms to the schema. If not, it returns the validation error.
func fits(t *testing.T, s *jsonschema.Schema, text []byte) (ok bool, err error) {
	t.Helper()
	var v any
	if err := yaml.Load(text, &v); err != nil {
		return false, err
	}
	if v == nil {
		v = object{}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return false, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return false, err
	}
	err = s.Validate(doc)
	return err == nil, err
}

// goodSpecs returns the valid specs of the repository: the examples, those of the test web, and
// those of this package.
func goodSpecs(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{
		"testdata/good/*.yaml", "../../../examples/*.yaml", "../../../examples/*/*.yaml", "../../../examples/*/*/*.yaml",
		"../../testing/samplesites/*.yaml", "../../testing/samplesites/*/*.yaml",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.Contains(filepath.Base(f), "compose") })
}

func TestGoodSpecs(t *testing.T) {
	s, files := schema(t), goodSpecs(t)
	if len(files) < 3 {
		t.Fatalf("only %v", files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file, text); err != nil {
			t.Errorf("%v", err)
		}
		if _, err := fits(t, s, text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	d := crawlspec.Default()
	if _, err := fits(t, s, d.Encode()); err != nil {
		t.Errorf("the default spec: %v", err)
	}
}

// beyondSchema are broken specs that conform to the schema.
var beyondSchema = []string{
	"address", "alerts-values", "alerts-webhook", "anchor", "auth", "bomb", "hours", "metadata-inherit", "metadata-names", "patterns", "render-selectors", "requests", "rules-engine", "rules-schema", "rules-selectors", "secret", "slips", "sources", "tag", "text-languages", "values", "version", "wide",
}

func TestBrokenSpecsDoNotFitTheSchema(t *testing.T) {
	s := schema(t)
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := fits(t, s, text)
		switch {
		case ok && !slices.Contains(beyondSchema, name):
			t.Errorf("%s fits the schema", name)
		case !ok && errors.As(err, new(*jsonschema.ValidationError)):
			refused++
		}
	}
	if refused < 10 {
		t.Errorf("the schema itself refused only %d", refused)
	}
}
