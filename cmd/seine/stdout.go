package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"seine/internal/base/safeprint"
)

// dataOut returns standard output for machine-readable data: records, JSON, YAML.
func dataOut() io.Writer { return safeprint.Data(os.Stdout, isTerminal(os.Stdout)) }

// printJSON prints a value as one line of JSON.
func printJSON(v any) error {
	out := json.NewEncoder(dataOut())
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

// printLines prints each value as one line of JSON.
func printLines[T any](all []T) error {
	for i := range all {
		if err := printJSON(&all[i]); err != nil {
			return err
		}
	}
	return nil
}
