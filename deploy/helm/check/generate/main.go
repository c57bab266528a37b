// Command generate writes what deploy/helm and deploy/kubernetes have from other files of the repository. It runs in the
// folder above, as go generate does.
package main

import (
	"bytes"
	"fmt"
	"os"

	"seine/deploy/helm/check"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "seine-commands")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := check.Binaries(dir); err != nil {
		return err
	}
	// The chart is rendered under the schema, so that comes first.
	schema, err := check.Schema(dir)
	if err != nil {
		return err
	}
	if err := write(check.SchemaFile, schema); err != nil {
		return err
	}
	files, err := check.Generated(dir)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := write(name, text); err != nil {
			return err
		}
	}
	return nil
}

// write replaces a file that is not as it should be.
func write(name string, text []byte) error {
	if have, err := os.ReadFile(name); err == nil && bytes.Equal(have, text) {
		return nil
	}
	fmt.Println("writing", name)
	return os.WriteFile(name, text, 0o644)
}
