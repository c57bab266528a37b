package sqlsink

import (
	"bytes"

	"seine/internal/base/jsontext"
)

// MendEscapes replaces the escapes for U+0000 and lone surrogates in JSON: databases reject them or
// end a text there. Strings can contain these characters only as escapes.
func MendEscapes(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u`)) {
		return data
	}
	return jsontext.MapStrings(data, clean)
}
