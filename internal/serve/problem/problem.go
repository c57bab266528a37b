// Package problem writes HTTP errors as problem documents (RFC 9457): the error, and what to do.
package problem

import (
	"encoding/json"
	"net/http"

	"seine/internal/base/jsontext"
)

// ContentType is the media type of a problem document.
const ContentType = "application/problem+json"

// Detail returns the detail of a problem document, "" for other text.
func Detail(text []byte) string {
	var p struct {
		Detail string `json:"detail"`
	}
	_ = jsontext.Unmarshal(text, &p) // a truncated document has no detail
	return p.Detail
}

// Write writes a problem document. detail says what to do.
func Write(w http.ResponseWriter, status int, detail string) {
	text, err := json.Marshal(map[string]any{"title": http.StatusText(status), "status": status, "detail": detail})
	if err != nil {
		panic(err) // cannot fail: only strings and a number
	}
	w.Header().Set("Content-Type", ContentType)
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client may be gone
}
