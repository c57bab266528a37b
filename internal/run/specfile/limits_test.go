package specfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/base/cputime"
	"seine/internal/base/suggest"
)

func TestBounds(t *testing.T) {
	for name, text := range map[string]string{
		"size":            "# " + strings.Repeat("x", MaxSize),
		"depth":           "records: [{kind: a, fields: {x: a}, schema: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}]",
		"depth of fields": "records: [{kind: a, fields: " + strings.Repeat("{x: {css: a, fields: ", 200) + "{}" + strings.Repeat("}}", 200) + "}]",
		"depth of YAML":   strings.Repeat("[", 20000),
		"values":          "include: [" + strings.Repeat("a,", maxValues+1) + "]",
		"problems":        strings.Repeat("- {x: y}\n", 1000) + "",
		"unknown keys":    manyKeys(5000),
		"broken members":  "priorities:\n" + strings.Repeat("- {match: \"\", priority: 99}\n", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			began := cputime.Used()
			_, err := Load("spec.yaml", []byte(text))
			found, ok := errors.AsType[*Errors](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if n := len(found.Problems); n > maxProblems+1 {
				t.Errorf("%d problems", n)
			}
			if took := cputime.Used() - began; took > 5*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key_%d: %d\n", i, i)
	}
	return b.String()
}

func TestReadTellsTheFile(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte("scope: hst\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Read(file)
	if want := file + `:1:8: scope "hst": must be host, domain or any`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestProblemsAreInTheOrderOfTheText(t *testing.T) {
	_, err := Load("s", []byte("timeout: 0s\nxyz: 1\nscope: no\nrate: fast\nabc: 1\n"))
	var lines []string
	for line := range strings.Lines(err.Error()) {
		lines = append(lines, line[:strings.Index(line, ": ")])
	}
	if got, want := strings.Join(lines, " "), "s:1:10 s:2:1 s:3:8 s:4:7 s:5:1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSuggest(t *testing.T) {
	known := specShape.names()
	for written, want := range map[string]string{
		"max_page": "max_pages", "maxpages": "max_pages", "max-pages": "max_pages", "Delay": "delay", "dealy": "delay",
		"record": "records", "user agent": "user_agent", "xyzzy": "", "": "", strings.Repeat("delay", 100): "",
	} {
		if got := suggest.Name(written, known); got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
	}
}
