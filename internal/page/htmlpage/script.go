package htmlpage

import (
	"bytes"
	"strings"
)

// HasScript reports whether a document has or refers to a script.
func HasScript(body []byte) bool {
	for rest := body; ; {
		_, after, found := bytes.Cut(rest, []byte("<"))
		if !found {
			return false
		}
		if len(after) >= 6 && strings.EqualFold(string(after[:6]), "script") && !isData(after) {
			return true
		}
		rest = after
	}
}

// isData reports whether a script element holds data, such as structured data.
func isData(tag []byte) bool {
	tag, _, _ = bytes.Cut(tag, []byte(">"))
	return bytes.Contains(tag, []byte("application/ld+json")) || bytes.Contains(tag, []byte("application/json"))
}
