package specfile

import _ "embed"

// Schema is the JSON Schema (2020-12) of a spec, for editors. It is stricter than
// Load in form, and knows nothing of what Load checks beyond it.
//
//go:embed schema.json
var Schema []byte
