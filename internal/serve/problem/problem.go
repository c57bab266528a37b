// Package problem writes errors of HTTP as problem documents (RFC 9457): what is wrong, and what to do.
package problem

import (
	"encoding/json"
	"net/http"

	"seine/internal/base/jsontext"
)

// ContentType is that of a problem document.
const ContentType = "application/problem+json"

// Detail returns what a problem document says, "" for anything else.
func Detail(text []byte) string {
	var p struct {
		Detail string `json:"detail"`
	}
	_ = jsontext.Unmarshal(text, &p) // one that is cut off has none
	return p.Detail
}

// Write answers with a problem whose detail says what to do.
func Write(w http.ResponseWriter, status int, detail string) {
	text, err := json.Marshal(map[string]any{"title": http.StatusText(status), "status": status, "detail": detail})
	if err != nil {
		panic(err) // of strings and a number
	}
	w.Header().Set("Content-Type", ContentType)
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that is gone waits for nothing
}
