package pages

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"seine/internal/base/jsontext"
	"seine/internal/run/speccompletion"
	"seine/internal/run/specfile"
	"seine/internal/serve/caller"
)

// maxCompletion bounds a question about a text, in bytes: JSON may need two for one of the text.
const maxCompletion = 2*specfile.MaxSize + 1024

// complete is POST /specs/completion: what may be written at a place of the text of a spec. Editors ask it while
// somebody writes.
func (s *server) complete(w http.ResponseWriter, r *http.Request) {
	if err := allowed(r, caller.Read); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCompletion))
	if err != nil {
		http.Error(w, fmt.Sprintf("a spec has at most %d bytes", specfile.MaxSize), http.StatusRequestEntityTooLarge)
		return
	}
	var ask struct {
		Text   string `json:"text"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
	if err := jsontext.Unmarshal(text, &ask); err != nil {
		http.Error(w, "send an object of JSON with text, line and column", http.StatusBadRequest)
		return
	}
	answer, err := speccompletion.Complete(ask.Text, ask.Line, ask.Column)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who is gone needs none
}
