package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The text has the license of Go, and those of the modules of this test, one of which has a capital in its path.
func TestLicenses_OfACommand_HasEachModule(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "LICENSES")
	if err := (&licensesCmd{File: file, Commands: []string{self}}).Run(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"==== Go: LICENSE\n\nCopyright 2009 The Go Authors", "==== github.com/CycloneDX/cyclonedx-go@", "==== github.com/alecthomas/kong@"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the text lacks %q", want)
		}
	}
}

func TestLicenses_ModuleWithoutOne_IsAnError(t *testing.T) {
	if err := addLicenses(nil, "example.org/m@v1.0.0", t.TempDir()); err == nil {
		t.Error("a module without a license is accepted")
	}
}
