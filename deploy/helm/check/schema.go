package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SchemaFile is the schema of the chart's values.
var SchemaFile = filepath.Join(ChartFolder, "values.schema.json")

// Lists are the options that may be given more than once.
var Lists = []string{"accept", "resolver", "encrypt"}

// set are the options that the chart gives itself; a value for one would be given twice.
var set = map[string][]string{
	"":         {"config", "nats-wait", "listen", "log-level", "log-format", "trace", "trace-ratio", "drain", "state", "secrets", "pprof"},
	"writer":   {"out", "name", "from", "dry-run"},
	"serve":    {"data", "tokens", "metrics", "host", "tls-cert", "tls-key", "client-ca"},
	"frontier": {},
}

// Settable reports whether values may give a component an option.
func Settable(component, flag string) bool {
	own := strings.HasPrefix(flag, "nats") || slices.Contains(set[""], flag) || slices.Contains(set[component], flag)
	return !own
}

// Schema is the schema with the options that the commands in dir know.
func Schema(dir string) ([]byte, error) {
	text, err := os.ReadFile(SchemaFile)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("%s: %w", SchemaFile, err)
	}
	defs, _ := schema["$defs"].(map[string]any)
	for _, c := range Components {
		flags, err := Flags(dir, c)
		if err != nil {
			return nil, err
		}
		defs["options-"+c] = optionsSchema(c, flags)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(schema); err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return b.Bytes(), nil
}

// optionsSchema is the schema of the options of a component.
func optionsSchema(component string, flags []Flag) map[string]any {
	properties := make(map[string]any)
	for _, f := range flags {
		if !Settable(component, f.Name) {
			continue
		}
		types := []string{"string", "number", "boolean"}
		if slices.Contains(Lists, f.Name) {
			types = append(types, "array")
		}
		properties[f.Name] = map[string]any{"description": f.Help, "type": types}
	}
	return map[string]any{
		"type": "object", "additionalProperties": false, "properties": properties,
		"description": "flags of the command, without the dashes",
	}
}
