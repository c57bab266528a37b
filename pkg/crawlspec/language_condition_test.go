package crawlspec

import (
	"strings"
	"testing"
)

// A language code alone is a selector of no element; tr and li are elements.
func TestLanguageIsNoElement(t *testing.T) {
	for when, refused := range map[string]bool{`{"css": "en"}`: true, `{"not": {"css": "de"}}`: true, `{"language": "en"}`: false, `{"css": "tr"}`: false, `{"css": "li"}`: false} {
		_, err := Decode([]byte(`{"page": {"when": ` + when + `}}`))
		if got := err != nil && strings.Contains(err.Error(), "write {language: "); got != refused || (err != nil) != refused {
			t.Errorf("when: %s: %v", when, err)
		}
	}
}
