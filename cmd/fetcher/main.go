// Command fetcher runs the fetcher stage. Any number may run in parallel.
package main

import (
	"os"

	"seine/pkg/command"
)

func main() { os.Exit(command.Fetcher()) }
