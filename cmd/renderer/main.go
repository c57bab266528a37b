// Command renderer runs the renderer stage: a fetcher with a browser. Any number may run side by side.
package main

import (
	"os"

	"seine/pkg/command"
)

func main() { os.Exit(command.Renderer()) }
