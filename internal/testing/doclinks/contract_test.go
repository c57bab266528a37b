package doclinks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	promise  = regexp.MustCompile(`(?m)^### \d.*$`)
)

// CONTRACT.md has a section for each promise of docs/contract.md and names only existing tests.
func TestContractNamesTests(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	list, contract := read(t, filepath.Join(root, "internal", "testing", "CONTRACT.md")), read(t, filepath.Join(root, "docs", "contract.md"))
	if promises := promise.FindAllString(contract, -1); len(promises) < 10 || !slices.Equal(promises, promise.FindAllString(list, -1)) {
		t.Errorf("the contract has the promises %q, the list %q", promises, promise.FindAllString(list, -1))
	}
	tests := testFuncs(t, root)
	for _, name := range testName.FindAllString(list, -1) {
		if !tests[name] {
			t.Errorf("no test is called %s", name)
		}
	}
}

// testFuncs returns the names of all tests below a folder.
func testFuncs(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, m := range testFunc.FindAllStringSubmatch(read(t, path), -1) {
			names[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
