package e2e

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// block is a fenced block of a page.
type block struct {
	language string
	lines    []string
}

// blocksOf returns the fenced blocks of a page.
func blocksOf(page string) (blocks []block) {
	var in *block
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && in == nil:
			in = &block{language: language}
		case fence:
			blocks, in = append(blocks, *in), nil
		case in != nil:
			in.lines = append(in.lines, line)
		}
	}
	return blocks
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)

// typed runs a command line in a folder, as typed in a terminal, and returns its output.
func typed(t *testing.T, dir, line string) string {
	t.Helper()
	words := strings.Fields(line)
	name, ok := strings.CutPrefix(words[0], "bin/")
	if !ok {
		t.Fatalf("%s: is none of our commands", line)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), words[1:]...)
	cmd.Dir = dir
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 250})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, _ := io.ReadAll(file) // returns an error when the command has ended
	said := escapes.ReplaceAllString(string(text), "")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, said)
	}
	return said
}

// wantLines checks that a text has lines in a given order. Runs of spaces, and … in the lines,
// match anything similar.
func wantLines(t *testing.T, said string, want []string) {
	t.Helper()
	rest := said
	for _, line := range want {
		pattern := regexp.QuoteMeta(strings.Join(strings.Fields(line), " "))
		pattern = strings.ReplaceAll(strings.ReplaceAll(pattern, " ", `\s+`), "…", `.*`)
		at := regexp.MustCompile(pattern).FindStringIndex(rest)
		if at == nil {
			t.Errorf("nothing says %q after what comes before, but:\n%s", line, rest)
			return
		}
		rest = rest[at[1]:]
	}
}

// The tutorial works as written: its files are written, its commands run, and their output is the
// documented one.
func TestTutorial(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	shop := newExample(t, "shop")
	page := strings.ReplaceAll(string(text), "http://127.0.0.1:8080", shop.base)
	page = strings.ReplaceAll(page, "127.0.0.1:8080", strings.TrimPrefix(shop.base, "http://"))
	dir, said, runs := t.TempDir(), "", 0
	for _, b := range blocksOf(page) {
		switch b.language {
		case "yaml":
			name, ok := strings.CutPrefix(b.lines[0], "# ")
			if !ok {
				t.Fatalf("a file has no name: %s", b.lines[0])
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(b.lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		case "sh":
			said = ""
			for _, line := range b.lines {
				said += typed(t, dir, line)
				runs++
			}
		case "text":
			wantLines(t, said, b.lines)
		}
	}
	if runs < 8 {
		t.Errorf("only %d commands were found", runs)
	}
}
