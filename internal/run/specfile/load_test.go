package specfile

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seine/pkg/crawlspec"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with a file of testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	ours, theirs := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i, line := range ours {
		if i >= len(theirs) || line != theirs[i] {
			t.Errorf("%s:%d: got %q and so on: rewrite it with -update, and read the difference", path, i+1, line)
			return
		}
	}
	t.Errorf("%s: it has %d lines more than what came: %q and so on", path, len(theirs)-len(ours), theirs[len(ours)])
}

// TestBroken reads each spec of testdata/broken, whose first lines describe the error, and compares
// the output on a terminal.
func TestBroken(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d broken specs: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Load("spec.yaml", text)
			found, ok := errors.AsType[*Errors](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			var shown bytes.Buffer
			found.Write(&shown, false)
			golden(t, strings.TrimSuffix(file, ".yaml")+".golden", shown.String())
			for _, p := range found.Problems {
				if p.Line < 1 || p.Column < 1 {
					t.Errorf("%+v has no place", p)
				}
			}
			if n := strings.Count(found.Error(), "spec.yaml:"); n != len(found.Problems) {
				t.Errorf("%d problems, but %d lines tell a place:\n%s", len(found.Problems), n, found.Error())
			}
		})
	}
}

func TestLoadDefaults(t *testing.T) {
	want := crawlspec.Default()
	for _, text := range []string{"", "\n \n", "# nothing\n", "---\n", "{}", "v: 1\n", "delay:\nrecords:\nlinks:\npage:\n", "\ufeffscope: host\n"} {
		s, err := Load("spec.yaml", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if !bytes.Equal(s.Encode(), want.Encode()) {
			t.Errorf("%q is %s", text, s.Encode())
		}
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct {
		text string
		want []string // parts of the error
	}{
		{"scope: host\ndelai: 1s\n", []string{"delai", "spec.yaml:2:"}},
		{"delay: 1s\ndelay: 2s\n", []string{"delay", "spec.yaml:2:"}},
		{"per_host: many\n", []string{"spec.yaml:1:", "must be a whole number"}},
		{"\ndelay: 5\n", []string{"spec.yaml:2:", `duration "5": write a number and a unit`}},
		{"max_body: big\n", []string{"spec.yaml:1:", `size "big": write a whole number and a unit`}},
		{"- a\n- b\n", []string{"spec.yaml:1:"}},
		{"a: [\n", []string{"spec.yaml:2:"}},
		{"scope: host\n---\nscope: any\n", []string{"document"}},
		{"breaker:\n  failures: 3\n  waiting: 1s\n", []string{"spec.yaml:3:", "waiting"}},
		{"traps: {max_repeat: 3}\n", []string{"spec.yaml:1:", "max_repeat"}},
		{"normalize:\n  sort: true\n", []string{"spec.yaml:2:", "sort"}},
		{"sources:\n- hosts: [a.test]\n  dely: 1s\n", []string{"spec.yaml:3:", "dely"}},
		{"sources:\n- hosts: [a.test]\n  breaker:\n    fails: 1\n", []string{"spec.yaml:4:", "fails"}},
		{"priorities:\n- match: '*'\n  prio: 1\n", []string{"spec.yaml:3:", "prio"}},
		{"recrawl:\n- match: '*'\n  evry: 1h\n", []string{"spec.yaml:3:", "evry"}},
		{"pace:\n  delay: 1s\n", []string{"spec.yaml:1:", "pace"}},
		{"\nrate: fast\n", []string{"spec.yaml:2:", `rate "fast": write requests per time`}},
		{"jitter: .nan\n", []string{"spec.yaml:1:9: jitter: must be what JSON can say"}},
		{"scope: ''\n", []string{`scope: "": must be one of host, domain, any`}},
		{"scope: world\n", []string{`scope: "world": must be one of host, domain, any`}},
	}
	for _, tt := range tests {
		_, err := Load("spec.yaml", []byte(tt.text))
		if err == nil {
			t.Errorf("%q is accepted", tt.text)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, which does not say %q", tt.text, err, part)
			}
		}
	}
}

// An empty file is an error, unlike one that sets no keys.
func TestFileWithoutASpec(t *testing.T) {
	t.Parallel()
	for text, empty := range map[string]bool{"": true, "\n \n": true, "# only a comment\n": true, "---\n": true, "null": true, "{}": false, "v: 1": false} {
		_, err := ReadFrom("spec.yaml", strings.NewReader(text))
		if (err != nil) != empty || empty && !strings.Contains(err.Error(), "spec.yaml") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
