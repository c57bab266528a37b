package specfile

import _ "embed"

// Schema is the JSON Schema (2020-12) of a spec, for editors. It is stricter than Load about the
// form, and does not include Load's further checks.
//
//go:embed schema.json
var Schema []byte
