package main

import (
	"encoding/json"
	"io"
	"os"

	"seine/internal/base/safeprint"
)

// dataOut is the standard output for what programs read: records, JSON, YAML.
func dataOut() io.Writer { return safeprint.Data(os.Stdout, isTerminal(os.Stdout)) }

// printLines prints each value as one line of JSON.
func printLines[T any](all []T) error {
	out := json.NewEncoder(dataOut())
	for i := range all {
		if err := out.Encode(&all[i]); err != nil {
			return err
		}
	}
	return nil
}
