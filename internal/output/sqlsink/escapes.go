package sqlsink

import (
	"bytes"

	"seine/internal/base/jsontext"
)

// MendEscapes replaces in JSON what databases refuse, or end a text at, and strings can only have as escapes: U+0000 and lone
// surrogates.
func MendEscapes(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u`)) {
		return data
	}
	return jsontext.MapStrings(data, clean)
}
