// Command renderer runs the renderer stage: a fetcher with a browser. Any number may run in
// parallel.
package main

import (
	"os"

	"seine/pkg/command"
)

func main() { os.Exit(command.Renderer()) }
