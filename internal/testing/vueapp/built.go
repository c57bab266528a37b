package vueapp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// built returns the folder of the application that Vite built. The file "built" beside it marks a
// complete build.
func built(t testing.TB) string {
	t.Helper()
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), ".cache", "vueapp")
	_, err = os.Stat(filepath.Join(dir, "built"))
	if err == nil {
		return filepath.Join(dir, "dist")
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("the Vue application is not built: scripts/vueapp builds it: %v", err)
	}
	t.Skipf("the Vue application is not built here: scripts/vueapp builds it: %v", err)
	return ""
}
