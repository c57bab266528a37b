package fleet

import (
	"fmt"

	"seine/internal/output"
	"seine/internal/output/dir"
)

// Writer is the name of the writer that none is told.
const Writer = "default"

// Records counts what is committed in an output folder; an identity that is there twice is an error.
func Records(out string) (n int, err error) {
	log, err := dir.Read(out, Writer)
	if err != nil {
		return 0, fmt.Errorf("read the output: %w", err)
	}
	seen := make(map[string]bool)
	err = output.Output{Log: log}.Commits(func(commit *output.Commit) error {
		n += commit.Records()
		for v := commit.Visits; len(v) > 0; v = v[output.IdentitySize:] {
			seen[string(v[:output.IdentitySize])] = true
		}
		return nil
	})
	if err == nil && n != len(seen) {
		err = fmt.Errorf("%d records are in the output, %d different ones", n, len(seen))
	}
	return n, err
}
