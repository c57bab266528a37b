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

// Aliases must not expand a few lines beyond the available memory.
func TestFieldsOfAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("records:\n- {kind: a, fields: {t: &a0 {css: a}}}\n")
	for i := 1; i < 5; i++ {
		a := "*a" + string(rune('0'+i-1))
		b.WriteString("- {kind: a, fields: {t: &a" + string(rune('0'+i)) + " {css: a, fields: {")
		for j := range 20 {
			b.WriteString("f" + string(rune('a'+j)) + ": " + a + ", ")
		}
		b.WriteString("}}}}\n")
	}
	if _, err := Load("spec.yaml", []byte(b.String())); err == nil || !strings.Contains(err.Error(), "too much") {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{
		"records: [{kind: a, fields: &a {t: {css: a, fields: *a}}}]",
		"records: [{kind: a, fields: {t: &a {css: a, fields: {u: *a}}}}]",
	} {
		if _, err := Load("spec.yaml", []byte(text)); err == nil {
			t.Errorf("fields that contain themselves are taken: %s", text)
		}
	}
	s, err := Load("spec.yaml", []byte("records: [{kind: a, fields: &a {t: &b {css: a}, u: *b}}, {kind: b, fields: *a}]"))
	if err != nil || len(s.Records[1].Fields) != 2 || s.Records[1].Fields[1].CSS != "a" {
		t.Errorf("plain aliases: %+v, %v", s, err)
	}
}

func TestWrongValues(t *testing.T) {
	for _, text := range []string{".inf", "{a: 1, a: 2}", "{[a]: b}", "&x [*x]"} {
		if _, err := Load("spec.yaml", []byte("records: [{kind: a, fields: {t: {css: a, default: "+text+"}}}]")); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
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
	if want := file + `:1:8: scope: "hst": did you mean host? It must be one of host, domain, any`; err == nil || err.Error() != want {
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
	known := specShape().names()
	for written, want := range map[string]string{
		"max_page": "max_pages", "maxpages": "max_pages", "max-pages": "max_pages", "Delay": "delay", "dealy": "delay",
		"record": "records", "user agent": "user_agent", "xyzzy": "", "": "", strings.Repeat("delay", 100): "",
	} {
		if got := suggest.Name(written, known); got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
	}
}
