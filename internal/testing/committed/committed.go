// Package committed reads what writers have committed in directories, in tests.
package committed

import (
	"errors"

	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/testing/outputtest"
	"seine/pkg/stages/writer"
)

// Commits returns the commit log of the writer called name in the directory out, by partition and in the order of the
// commits.
func Commits(out, name string) ([]output.Commit, error) {
	return (&writer.Config{OutputConfig: writer.OutputConfig{Out: out}, Name: name}).ReadCommits() //nolint:wrapcheck // says all
}

// Verify checks the output of the writer called name in the directory out.
func Verify(out, name string) error {
	o, err := writer.OpenOutput(out, name, bucket.Options{})
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	return errors.Join(outputtest.Verify(o), o.Close())
}
