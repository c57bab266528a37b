package crawlspec

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"seine/internal/base/jsontext"
)

// The example of docs/reference/wire.md decodes and has no unknown fields. The document mentions
// every field of its rules.
func TestWireExampleOfASpec(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	examples := regexp.MustCompile("(?s)```json spec\n(.*?)\n```").FindAllStringSubmatch(doc, -1)
	if len(examples) == 0 {
		t.Error("there is no example of a spec")
	}
	for _, m := range examples {
		example := []byte(m[1])
		if _, err := Decode(example); err != nil {
			t.Error(err)
		}
		if err := jsontext.UnmarshalStrict(example, new(Spec)); err != nil {
			t.Error(err)
		}
	}
	for _, rule := range []any{HostRule{}, PriorityRule{}, RecrawlRule{}} {
		for field := range reflect.TypeOf(rule).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !strings.Contains(doc, "`"+name+"`") && !strings.Contains(doc, `"`+name+`"`) {
				t.Errorf("docs/reference/wire.md does not mention %s of %T", name, rule)
			}
		}
	}
}
