package specfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"seine/pkg/crawlspec"
)

// FuzzSpec loads any text. Loading must end quickly, with a spec or with problems at places in the
// text; a spec must survive a round trip through storage.
func FuzzSpec(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/broken/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		spec, err := Load("spec.yaml", text)
		if err != nil {
			checkProblems(t, text, err)
			return
		}
		stored := spec.Encode()
		again, err := crawlspec.Decode(stored)
		if err != nil {
			t.Fatalf("what was loaded cannot be read when stored: %v\n%s", err, stored)
		}
		if !bytes.Equal(again.Encode(), stored) {
			t.Errorf("stored as\n%s\nthen\n%s", stored, again.Encode())
		}
	})
}

func checkProblems(t *testing.T, text []byte, err error) {
	t.Helper()
	found, ok := errors.AsType[*Errors](err)
	if !ok || len(found.Problems) == 0 || len(found.Problems) > maxProblems+1 {
		t.Fatalf("not problems of the text: %v", err)
	}
	lines := len(linesOf(text))
	for _, p := range found.Problems {
		if p.Text == "" || p.Line > lines || (p.Line > 0) != (p.Column > 0) {
			t.Errorf("%+v in %d lines", p, lines)
		}
	}
	var shown bytes.Buffer
	found.Write(&shown, true)
	if bytes.ContainsAny(bytes.ReplaceAll(shown.Bytes(), []byte("\x1b["), nil), "\x1b\x00\r") {
		t.Errorf("a terminal would obey %q", shown.Bytes())
	}
}
