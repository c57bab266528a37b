package extract

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kaptinlin/jsonschema"

	"seine/internal/base/jsontext"
	"seine/internal/page/document"
	"seine/pkg/crawlspec"
)

// schema is a compiled JSON Schema (2020-12) whose formats are checked.
type schema struct {
	mu       sync.Mutex // the library compiles patterns while it validates
	compiled *jsonschema.Schema
}

// schemaOfSchemas describes the keywords of JSON Schema: the library ignores a type that does not
// exist.
//
//go:embed schema_of_schemas.json
var schemaOfSchemas []byte

var metaschema = sync.OnceValues(func() (*schema, error) { return compileText(schemaOfSchemas) })

func compileSchema(v crawlspec.Value) (*schema, error) {
	meta, err := metaschema()
	if err == nil {
		err = meta.check(v)
	}
	var s *schema
	if err == nil {
		s, err = compileText(v)
	}
	if err != nil {
		return nil, fmt.Errorf("is not a JSON Schema: %w", err)
	}
	return s, nil
}

func compileText(text []byte) (*schema, error) {
	c := jsonschema.NewCompiler().SetAssertFormat(true)
	c.Loaders = nil // a schema must be self-contained
	compiled, err := c.Compile(text)
	if bad, ok := errors.AsType[*jsonschema.RegexPatternError](err); ok {
		return nil, fmt.Errorf("%s: %w", strings.TrimPrefix(bad.Location, "#"), bad.Err)
	}
	if err != nil {
		return nil, err
	}
	if refs := compiled.UnresolvedReferenceURIs(); len(refs) > 0 {
		return nil, fmt.Errorf("$ref: %q is not in the schema", refs[0])
	}
	return &schema{compiled: compiled}, nil
}

// check returns an error that lists where a JSON value does not conform, at most three places, on
// one line.
func (s *schema) check(text []byte) error {
	if err := document.Bounded(text); err != nil {
		return err
	}
	var value any
	if err := jsontext.Unmarshal(text, &value); err != nil {
		return errors.New("has a number that is too large to check") // it does not fit a float64
	}
	if n := countValues(value); n > maxChecked {
		return fmt.Errorf("has %d values, a schema can check at most %d", n, maxChecked)
	}
	s.mu.Lock()
	result := s.compiled.ValidateStruct(value)
	s.mu.Unlock()
	if result.IsValid() {
		return nil
	}
	places := causes(result, "")
	slices.Sort(places) // the library iterates over maps
	places = slices.Compact(places)
	const most = 3
	if len(places) > most {
		places = append(places[:most], fmt.Sprintf("and %d more", len(places)-most))
	}
	return errors.New(strings.Join(places, "; "))
}

// maxChecked bounds the values of a record that has a schema: for each value and each schema that
// applies to it, the library allocates a result of some hundred bytes.
const maxChecked = 1 << 16

func countValues(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += countValues(e)
		}
	case map[string]any:
		for _, e := range v {
			n += countValues(e)
		}
	}
	return n
}

// applicators are the keywords whose errors only say that a part does not conform, which has an
// error itself.
var applicators = []string{
	"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "then", "else", "properties", "patternProperties", "additionalProperties",
	"dependentSchemas", "propertyNames", "unevaluatedProperties", "items", "prefixItems", "contains", "unevaluatedItems",
}

// causes returns the errors at a location of a value and below it.
func causes(r *jsonschema.EvaluationResult, at string) (places []string) {
	required, explained := r.Errors["required"], false
	for _, part := range r.Details {
		if part.IsValid() || !isCause(r, part) {
			continue
		}
		explained = true
		name := strings.TrimPrefix(part.InstanceLocation, "/")
		if required == nil || !strings.Contains(required.Error(), "'"+name+"'") { // the library validates missing members, as null
			places = append(places, causes(part, at+part.InstanceLocation)...)
		}
	}
	for keyword, err := range r.Errors {
		if !explained || !slices.Contains(applicators, keyword) {
			places = append(places, "/"+strings.TrimPrefix(at, "/")+": "+err.Error())
		}
	}
	return places
}

// isCause reports whether a part is the cause of its keyword's failure: the part of "if", and parts
// of "anyOf", may fail without being a cause.
func isCause(r, part *jsonschema.EvaluationResult) bool {
	keyword, _, _ := strings.Cut(strings.TrimPrefix(part.EvaluationPath, "/"), "/")
	switch keyword {
	case "": // of a reference, or "else"
		return r.Errors["$ref"] != nil || r.Errors["$dynamicRef"] != nil || r.Errors["else"] != nil
	case "unevaluatedProperties":
		keyword = "properties"
	}
	return r.Errors[keyword] != nil
}
