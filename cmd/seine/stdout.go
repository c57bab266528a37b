package main

import (
	"io"
	"os"

	"seine/internal/base/safeprint"
)

// dataOut is the standard output for what programs read: records, JSON, YAML.
func dataOut() io.Writer { return safeprint.Data(os.Stdout, isTerminal(os.Stdout)) }
