package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"seine/internal/base/lazyregexp"
	"seine/internal/page/document"
	"seine/pkg/crawlspec"
)

// schema is a compiled JSON Schema (2020-12).
type schema struct{ compiled *jsonschema.Schema }

// closed loads nothing: a schema of a spec is complete in itself.
type closed struct{}

func (closed) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: a schema refers to nothing outside itself", url)
}

// re2 are regular expressions that take linear time.
func re2(s string) (jsonschema.Regexp, error) { return regexp.Compile(s) }

func compileSchema(v crawlspec.Value) (*schema, error) {
	doc, _, err := document.Value(v)
	if err != nil {
		return nil, err
	}
	const name = "schema:record"
	c := jsonschema.NewCompiler()
	c.UseLoader(closed{})
	c.UseRegexpEngine(re2)
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, describe(err, "is not a JSON Schema")
	}
	return &schema{compiled}, nil
}

// errHuge says of a number that a schema cannot be asked about it: the library
// writes it out, which takes a second for twenty like "1e999999".
var errHuge = errors.New("has a number with an exponent of more than three digits, which no schema can check")

var hugeNumber = lazyregexp.New(`[eE][-+]?[0-9]{4}`)

// huge reports whether there is such a number in a value.
func huge(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return hugeNumber().MatchString(v.String())
	case []any:
		return slices.ContainsFunc(v, huge)
	case map[string]any:
		for _, e := range v {
			if huge(e) {
				return true
			}
		}
	}
	return false
}

// check reports where the fields of a record, as JSON, do not conform.
func (s *schema) check(record []byte) error {
	fields, _, err := document.Value(record)
	if err != nil {
		return err
	}
	if huge(fields) {
		return errHuge
	}
	if err := s.compiled.Validate(fields); err != nil {
		return describe(err, "does not conform to the schema")
	}
	return nil
}

// describe says on one line where a value does not conform, at most three places.
func describe(err error, what string) error {
	var invalid *jsonschema.ValidationError
	var meta *jsonschema.SchemaValidationError
	if errors.As(err, &meta) && !errors.As(meta.Err, &invalid) {
		return fmt.Errorf("%s: %w", what, meta.Err)
	}
	if invalid == nil && !errors.As(err, &invalid) {
		return fmt.Errorf("%s: %w", what, err)
	}
	var places []string
	causes(invalid, &places)
	slices.Sort(places) // the library goes through maps
	const most = 3
	if len(places) > most {
		places = append(places[:most], fmt.Sprintf("and %d more", len(places)-most))
	}
	return fmt.Errorf("%s: %s", what, strings.Join(places, "; "))
}

func causes(e *jsonschema.ValidationError, places *[]string) {
	if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(extra.Properties)
	}
	if len(e.Causes) == 0 {
		at := "/" + strings.Join(e.InstanceLocation, "/")
		*places = append(*places, at+": "+e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
		return
	}
	for _, c := range e.Causes {
		causes(c, places)
	}
}
