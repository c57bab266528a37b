package main

import (
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"seine/internal/run/config"
	"seine/internal/run/manpage"
)

type cli struct {
	config.File
	Version kong.VersionFlag `help:"Print the version." env:"-"`
	Man     manpage.Flag     `hidden:"" help:"Print the manual page." env:"-"`

	Crawl    crawlCmd    `cmd:"" group:"crawl" help:"Crawl sites with all stages in one process."`
	Extract  extractCmd  `cmd:"" group:"crawl" help:"Try the rules of a spec on one page."`
	Spec     specCmd     `cmd:"" group:"crawl" help:"Check, apply and compare specs."`
	Seed     seedCmd     `cmd:"" group:"crawl" help:"Add URLs to a crawl."`
	Status   statusCmd   `cmd:"" group:"observe" help:"Show the status of stages, streams and crawls."`
	Runs     runsCmd     `cmd:"" group:"observe" help:"Show statistics of each run of a crawl."`
	Top      topCmd      `cmd:"" group:"observe" help:"Watch crawls in the terminal; pause, resume and cancel them."`
	Doctor   doctorCmd   `cmd:"" group:"observe" help:"Find faults of a cluster and print how to fix them."`
	Explain  explainCmd  `cmd:"" group:"observe" help:"Explain why a URL was or was not fetched."`
	Failures failuresCmd `cmd:"" group:"observe" help:"List the URLs of a crawl that failed."`
	Hosts    hostsCmd    `cmd:"" group:"observe" help:"Show hosts, their pace and what they wait for."`
	Pause    pauseCmd    `cmd:"" group:"control" help:"Pause a crawl or one of its hosts."`
	Resume   resumeCmd   `cmd:"" group:"control" help:"Resume a paused or cancelled crawl."`
	Cancel   cancelCmd   `cmd:"" group:"control" help:"Cancel a crawl: drop its queued URLs."`
	Delete   deleteCmd   `cmd:"" group:"control" help:"Delete a crawl and its state; keep its output."`
	Dead     deadCmd     `cmd:"" group:"control" help:"Inspect, redrive or drop dead letters."`
	Replay   replayCmd   `cmd:"" group:"control" help:"Replay streams: parse pages or write records again."`
	Cat      catCmd      `cmd:"" group:"data" help:"Print records, one JSON object per line."`
	Export   exportCmd   `cmd:"" group:"data" help:"Copy committed output to another destination or format."`
	Compact  compactCmd  `cmd:"" group:"data" help:"Merge the small files of an output."`
	Verify   verifyCmd   `cmd:"" group:"data" help:"Verify the files of an output."`
	Manifest manifestCmd `cmd:"" group:"data" help:"List the committed files of a crawl as JSON."`
	Decrypt  decryptCmd  `cmd:"" group:"data" help:"Decrypt output files."`
	Serve    serveCmd    `cmd:"" group:"serve" help:"Serve web pages and an HTTP API."`
	MCP      mcpCmd      `cmd:"" group:"serve" name:"mcp" help:"Serve the Model Context Protocol on standard input and output."`
	Token    tokenCmd    `cmd:"" group:"serve" help:"Manage the tokens of seine serve."`
	Backup   backupCmd   `cmd:"" group:"cluster" help:"Back up a running cluster."`
	Restore  restoreCmd  `cmd:"" group:"cluster" help:"Restore a cluster from a backup."`
	Health   healthCmd   `cmd:"" group:"cluster" help:"Check whether a stage is ready."`
	Shell    shellCmd    `cmd:"" group:"tools" name:"completion" help:"Print a shell completion script."`
}

// grammar returns the struct from which kong makes its model: a cli, or, if the first argument
// names a command, a struct with only that command. A model of all commands takes kong a dozen
// times as long (BenchmarkModel), which is a tenth of a small crawl. A configuration file may have
// flags of any command, so it is checked against all.
func grammar(args []string) any {
	all := reflect.TypeFor[cli]()
	isConfig := func(arg string) bool { return strings.HasPrefix(arg, "--config") }
	if len(args) == 0 || slices.ContainsFunc(args, isConfig) || os.Getenv(config.EnvPrefix+"_CONFIG") != "" {
		return new(cli)
	}
	var fields []reflect.StructField
	isCommand := len(args) == 1 && args[0] == "--version" // which needs no command
	for field := range all.Fields() {
		_, command := field.Tag.Lookup("cmd")
		named := command && commandName(&field) == args[0]
		if isCommand = isCommand || named; named || !command {
			fields = append(fields, field)
		}
	}
	if !isCommand {
		return new(cli)
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// commandName returns the name of the command in a field.
func commandName(field *reflect.StructField) string {
	if name, ok := field.Tag.Lookup("name"); ok {
		return name
	}
	return strings.ToLower(field.Name)
}
