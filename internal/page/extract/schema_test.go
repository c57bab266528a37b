package extract

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kaptinlin/jsonschema"
	"golang.org/x/sync/errgroup"

	"seine/pkg/crawlspec"
)

func TestInvalidSchemas(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:              "is not a JSON Schema: /: Value is array but should be object, boolean",
		`{"type": "str"}`: "is not a JSON Schema: /type: Value str should be one of the allowed values: null, boolean, ",
		`{"properties": {"a": {"minimum": "x"}}}`:        "is not a JSON Schema: /properties/a/minimum: Value is string but should be number",
		`{"properties": {"a": {"minLength": -1}}}`:       "is not a JSON Schema: /properties/a/minLength: -1 should be at least 0",
		`{"properties": {"a": {"pattern": "("}}}`:        "is not a JSON Schema: /properties/a/pattern: error parsing regexp: missing closing )",
		`{"properties": {"a": {"pattern": "(?=x)"}}}`:    "is not a JSON Schema: /properties/a/pattern: ",
		`{"patternProperties": {"(": true}}`:             "is not a JSON Schema: /patternProperties/(: error parsing regexp: missing closing )",
		`{"properties": {"a": 3}}`:                       "is not a JSON Schema: /properties/a: Value is integer but should be object, boolean",
		`{"required": "a"}`:                              "is not a JSON Schema: /required: Value is string but should be array",
		`{"$ref": "#/$defs/none"}`:                       `is not a JSON Schema: $ref: "#/$defs/none" is not in the schema`,
		`{"items": {"$ref": "http://127.0.0.1:9/a"}}`:    `is not a JSON Schema: $ref: "http://127.0.0.1:9/a" is not in the schema`,
		`{"items": {"$ref": "file:///etc/passwd"}}`:      `is not a JSON Schema: $ref: "file:///etc/passwd" is not in the schema`,
		`{"maximum": 1e999}`:                             "is not a JSON Schema: has a number that is too large to check",
		`{"allOf": []}`:                                  "is not a JSON Schema: /allOf: ",
		`{"$schema": "urn:none", "type": ["a", "b"]}`:    "is not a JSON Schema: /type/0: Value a should be one of ",
		`{"format": "idn-email"}`:                        "is not a JSON Schema: /format: Value idn-email should be one of the allowed values: date-time, ",
		`{"not": {"additionalProperties": {"if": [1]}}}`: "is not a JSON Schema: /not/additionalProperties/if: ",
	} {
		if _, err := compileSchema(crawlspec.Value(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestErrorsNameThePlaces(t *testing.T) {
	for _, tt := range []struct{ schema, value, want string }{
		{`true`, `{"a": 1}`, ""},
		{`false`, `{"a": 1}`, "/: No values are allowed because the schema is set to 'false'"},
		{`{"$ref": "#"}`, `{}`, ""}, // an endless reference
		{`{"allOf": [{"$ref": "#"}], "required": ["a"]}`, `{}`, "/: Required property 'a' is missing"},
		{`{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}`, `{}`, ""},
		{`{"$defs": {"n": {"required": ["v"], "properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}`, `{"v": 1, "next": {"v": 2, "next": {}}}`,
			"/next/next: Required property 'v' is missing"},
		{`{"required": ["a", "b"], "properties": {"a": {"type": "string"}}}`, `{}`, "/: Required properties 'a', 'b' are missing"},
		{`{"required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}`, `{"b": 1}`,
			"/: Required property 'a' is missing; /b: Value is integer but should be string"},
		{`{"properties": {"a": {"items": {"minimum": 3}}}}`, `{"a": [4, 2, 5, 1]}`, "/a/1: 2 should be at least 3; /a/3: 1 should be at least 3"},
		{`{"items": {"minimum": 3}}`, `[1, 1, 1, 1, 1]`, "/0: 1 should be at least 3; /1: 1 should be at least 3; /2: 1 should be at least 3; and 2 more"},
		{`{"additionalProperties": false, "properties": {"a": {}}}`, `{"a": 1, "b": 2}`, "/b: No values are allowed because the schema is set to 'false'"},
		{`{"properties": {"a": {"enum": ["x", "y"]}}}`, `{"a": "z"}`, "/a: Value z should be one of the allowed values: x, y"},
		{`{"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}`, `{"a": null}`, ""},
		{`{"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}`, `{"a": 1}`,
			"/a: Value is integer but should be null; /a: Value is integer but should be string"},
		{`{"if": {"required": ["a"]}, "then": {"required": ["b"]}}`, `{"a": 1}`, "/: Required property 'b' is missing"},
		{`{"if": {"required": ["z"]}, "else": {"required": ["b"]}}`, `{"a": 1}`, "/: Required property 'b' is missing"},
		{`{"if": {"required": ["z"]}, "then": {"required": ["b"]}, "required": ["c"]}`, `{"a": 1}`, "/: Required property 'c' is missing"},
		{`{"anyOf": [{"required": ["z"]}, {"required": ["a"]}], "required": ["c"]}`, `{"a": 1}`, "/: Required property 'c' is missing"},
		{`{"not": {"required": ["z"]}, "required": ["c"]}`, `{"a": 1}`, "/: Required property 'c' is missing"},
		{`{"not": {"required": ["a"]}}`, `{"a": 1}`, "/: Value should not match the not schema"},
		{`{"contains": {"type": "string"}}`, `[1]`, "/: Value should contain at least 1 matching items"},
		{`{"properties": {"a": {}}, "unevaluatedProperties": {"type": "string"}}`, `{"a": 1, "b": 2}`, "/b: Value is integer but should be string"},
		{`{"properties": {"a": {"pattern": "^x"}}}`, `{"a": "me@site.test"}`, "/a: Value does not match the required pattern ^x"},
		{`{"properties": {"a": {"format": "date-time"}, "b": {"format": "uri"}}}`, `{"a": "2026-02-30T00:00:00Z", "b": "http://a.test/"}`,
			"/a: Value does not match format 'date-time'"},
		{`{"properties": {"a": {"type": "integer"}, "b": {"type": "number"}}}`, `{"a": 3.0, "b": 1e300}`, ""},
		{`{"properties": {"a": {"type": "integer"}}}`, `{"a": 3.5}`, "/a: Value is number but should be integer"},
		{`{"properties": {"a": {"multipleOf": 0.01}}}`, `{"a": 19.99}`, ""},
		{`{"properties": {"a": {"maximum": 10, "multipleOf": 3}}}`, `{"a": "1e999999999"}`, ""},
		{`{"items": {}}`, "[" + strings.Repeat("1,", maxChecked-2) + "1]", ""},
		{`{"items": {}}`, "[" + strings.Repeat("1,", maxChecked-1) + "1]", "has 65537 values, a schema can check at most 65536"},
		{`{"items": {}}`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "document is too large for rules: its values are nested more than 1000 deep"},
		{`{"properties": {"a": {"maximum": 10}}}`, `{"a": 1e999}`, "has a number that is too large to check"},
	} {
		s, err := compileSchema(crawlspec.Value(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		got := ""
		if err := s.check([]byte(tt.value)); err != nil {
			got = err.Error()
		}
		if got != tt.want && (tt.want == "" || !strings.HasPrefix(got, tt.want) || !strings.HasSuffix(tt.want, ": ")) {
			t.Errorf("%s of %s: %q, want %q", tt.value, tt.schema, got, tt.want)
		}
	}
}

func TestSchemaIsSafeForConcurrentUse(t *testing.T) {
	s, err := compileSchema(crawlspec.Value(`{"patternProperties": {"^a": {"pattern": "^x"}}, "properties": {"b": {"pattern": "^y"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var g errgroup.Group
	for range 8 {
		g.Go(func() error { return s.check([]byte(`{"a1": "x", "a2": "x", "b": "y"}`)) })
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

func TestEveryFormatIsChecked(t *testing.T) {
	var of struct {
		Properties struct{ Format struct{ Enum []string } }
	}
	if err := json.Unmarshal(schemaOfSchemas, &of); err != nil || len(of.Properties.Format.Enum) == 0 {
		t.Fatal(err)
	}
	for _, format := range of.Properties.Format.Enum {
		if valid := jsonschema.Formats[format]; valid == nil || valid("%({") {
			t.Errorf("%s is not checked", format)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"properties": {"a": {"type": "string", "format": "uri"}}, "required": ["a"]}`, `{"a": "x"}`)
	f.Add(`{"$defs": {"a": {"items": {"$ref": "#/$defs/a"}, "maxItems": 1}}, "$ref": "#/$defs/a"}`, `[[[], []]]`)
	f.Add(`{"anyOf": [{"multipleOf": 0.1}, {"const": null}], "not": {"$ref": "#"}, "uniqueItems": true}`, `[1, 1.0]`)
	f.Fuzz(func(t *testing.T, text, value string) {
		if !json.Valid([]byte(text)) || !json.Valid([]byte(value)) {
			return
		}
		s, err := compileSchema(crawlspec.Value(text))
		if err == nil {
			err = s.check([]byte(value))
		}
		if err != nil && (!utf8.ValidString(err.Error()) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q", err)
		}
	})
}
