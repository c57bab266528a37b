// Package generated keeps the parts of the documentation that follow from the code up to date. Such
// a part is between "<!-- begin generated: NAME -->" and "<!-- end generated -->". A test of the
// package that has the facts calls Check; `make docs` runs these tests with -update-docs, which
// writes the parts.
package generated

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update-docs", false, "write the generated parts of the documentation")

// Check compares a part of a page with the wanted text. With -update-docs it writes the text.
func Check(t *testing.T, page, name, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(text), "<!-- begin generated: "+name+" -->\n")
	have, after, ended := strings.Cut(rest, "<!-- end generated -->")
	want = "\n" + strings.TrimSpace(want) + "\n\n"
	switch {
	case !begun || !ended:
		t.Errorf("%s has no generated part %s", page, name)
	case have == want:
	case !*update:
		t.Errorf("%s: the part %s is not up to date: run make docs", page, name)
	default:
		text := strings.TrimSuffix(string(text), rest) + want + "<!-- end generated -->" + after
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
