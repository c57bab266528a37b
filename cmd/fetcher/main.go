// Command fetcher runs the fetcher stage. Any number may run side by side.
package main

import (
	"os"

	"seine/pkg/command"
)

func main() { os.Exit(command.Fetcher()) }
