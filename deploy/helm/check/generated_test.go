package check

import (
	"bytes"
	"os"
	"testing"
)

// What is made from other files is as they are now.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	if err := built(); err != nil {
		t.Fatal(err)
	}
	all, err := Generated(binaries)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not current (%v): run go generate in deploy/helm/check", name, err)
		}
	}
}
