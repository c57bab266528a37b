// Package openapiclient generates a client from the OpenAPI document of a server, for tests.
// openapi-typescript generates its types, the TypeScript compiler checks a program against them,
// and openapi-fetch sends its requests. scripts/openapiclient installs them.
package openapiclient

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Crawl runs crawl.ts, which runs a complete crawl from a seed through the API of a server, such as
// http://127.0.0.1:8077. It returns the records as JSON. Without the generators it fails in CI and
// skips the test elsewhere.
func Crawl(t *testing.T, server, crawl, seed string) []byte {
	t.Helper()
	home := home(t)
	installed := filepath.Join(home, ".cache", "openapiclient")
	dir, err := os.MkdirTemp(installed, "client-") // so that the module finds its packages in the folders above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, name := range []string{"crawl.ts", "tsconfig.json"} {
		text, err := os.ReadFile(filepath.Join(home, "internal", "testing", "openapiclient", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	modules := filepath.Join(installed, "node_modules")
	node(t, filepath.Join(modules, "openapi-typescript", "bin", "cli.js"), server+"/api/v1/openapi.json", "--output", filepath.Join(dir, "api.d.ts"))
	node(t, filepath.Join(modules, "typescript", "bin", "tsc"), "--project", dir)
	return node(t, filepath.Join(dir, "crawl.js"), server, crawl, seed)
}

// node runs a Node.js program to its end and returns its output.
func node(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", args...) //nolint:gosec // programs that scripts/openapiclient installs
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%.3000s%.3000s", filepath.Base(args[0]), err, out, said.String())
	}
	return out
}

// home returns the root of the repository if the generators are installed in it.
func home(t *testing.T) string {
	t.Helper()
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(strings.TrimSpace(string(mod)))
	_, err = exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, ".cache", "openapiclient", "installed.json"))
	}
	if err == nil {
		return dir
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("no generator of clients: scripts/openapiclient installs it: %v", err)
	}
	t.Skipf("no generator of clients here: scripts/openapiclient installs it: %v", err)
	return ""
}
