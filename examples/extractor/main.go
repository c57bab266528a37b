// Command extractor is Seine's parser with one thing more: it reads iCalendar files, each event a record. It takes the
// place of the parser of a cluster, and has the same options.
package main

import (
	"os"

	"seine/pkg/command"
)

func main() { os.Exit(command.Parser(events{})) }
