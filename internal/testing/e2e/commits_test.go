package e2e

import (
	"errors"

	"seine/internal/output"
	"seine/internal/output/bucket"
	"seine/internal/testing/outputtest"
	"seine/pkg/stages/writer"
)

// readCommits returns the commit log of a writer in the directory out, ordered by partition and
// commit.
func readCommits(out, name string) ([]output.Commit, error) {
	return (&writer.Config{OutputConfig: writer.OutputConfig{Out: out}, Name: name}).ReadCommits()
}

// verifyOutput checks the output of a writer in the directory out.
func verifyOutput(out, name string) error {
	o, err := writer.OpenOutput(out, name, bucket.Options{})
	if err != nil {
		return err
	}
	return errors.Join(outputtest.Verify(o), o.Close())
}
