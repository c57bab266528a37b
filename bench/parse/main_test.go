package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pages writes two pages, of which the second differs from its DOM if asked to.
func pages(t *testing.T, second string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"a.html": "<p>a<a href=b>b</a>", "below/b.htm": second, "c.txt": "<p>"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	same, other := pages(t, "<p>b"), pages(t, "<table>a<tr><td>b</table>c</pre>d")
	tests := []struct {
		args []string
		err  string
	}{
		{nil, "compare or cost"},
		{[]string{"other"}, "compare or cost"},
		{[]string{"compare", "--dir", same}, ""},
		{[]string{"compare", "--dir", other}, "1 pages differ"},
		{[]string{"compare", "--dir", filepath.Join(same, "none")}, "make sites"},
		{[]string{"cost", "--dir", same, "--rounds", "0"}, "--rounds"},
		{[]string{"cost", "--dir", same, "--rounds", "3", "--max-pass", "1e9", "--max-tree", "1e9"}, ""},
		{[]string{"cost", "--dir", same, "--rounds", "3", "--max-pass", "0"}, "bare tokenizer pass"},
		{[]string{"cost", "--dir", same, "--rounds", "3", "--max-pass", "1e9", "--max-tree", "0"}, "the DOM"},
	}
	for _, tt := range tests {
		err := run(tt.args)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: got %v, want %q", tt.args, err, tt.err)
		}
	}
}
