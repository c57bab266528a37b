// Command extractor is Seine's parser with two more extractors: one for iCalendar files and one for pages that mark up
// events, each event a record. It takes the place of the parser of a cluster, and has the same options.
package main

import (
	"os"

	"seine/pkg/command"
)

func main() { os.Exit(command.Parser(events{}, eventPages{})) }
