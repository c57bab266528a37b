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

	Crawl    crawlCmd    `cmd:"" help:"Crawl sites with everything in one process."`
	Extract  extractCmd  `cmd:"" help:"Show what the rules of a spec get from one page."`
	Spec     specCmd     `cmd:"" help:"Check specs; give them to crawls; print their JSON Schema."`
	Seed     seedCmd     `cmd:"" help:"Feed URLs to a crawl."`
	Status   statusCmd   `cmd:"" help:"Show how stages, streams and crawls stand."`
	Runs     runsCmd     `cmd:"" help:"Show the figures of each run of a crawl."`
	Top      topCmd      `cmd:"" help:"Watch all of it on a screen, and steer it by keys."`
	Serve    serveCmd    `cmd:"" help:"Serve pages about crawls, and an HTTP API to them."`
	MCP      mcpCmd      `cmd:"" name:"mcp" help:"Serve tools to a client of the Model Context Protocol, by standard input and output."`
	Token    tokenCmd    `cmd:"" help:"Make and revoke the tokens that let callers in to seine serve."`
	Doctor   doctorCmd   `cmd:"" help:"Look for what is wrong with a cluster, and say what to do."`
	Explain  explainCmd  `cmd:"" help:"Tell what became of a URL."`
	Hosts    hostsCmd    `cmd:"" help:"Show what is known of hosts, and what they wait for."`
	Pause    pauseCmd    `cmd:"" help:"Stop sending requests for a crawl, or for one of its hosts."`
	Resume   resumeCmd   `cmd:"" help:"Let a crawl go on."`
	Cancel   cancelCmd   `cmd:"" help:"Give up what is queued of a crawl."`
	Delete   deleteCmd   `cmd:"" help:"Forget a crawl and all that is known of it; its output stays."`
	Dead     deadCmd     `cmd:"" help:"Look at messages that no stage could handle; redrive or drop them."`
	Replay   replayCmd   `cmd:"" help:"Parse stored pages again, write stored records again, rebuild the frontier."`
	Repart   repartCmd   `cmd:"" name:"repartition" help:"Change the number of partitions of a cluster whose stages are stopped."`
	Backup   backupCmd   `cmd:"" help:"Copy a cluster that crawls into a folder."`
	Restore  restoreCmd  `cmd:"" help:"Make a cluster again of what seine backup has copied."`
	Cat      catCmd      `cmd:"" help:"Print the records of an output directory, a line each."`
	Export   exportCmd   `cmd:"" help:"Write what is committed to another place, in another form."`
	Verify   verifyCmd   `cmd:"" help:"Check the files of an output directory."`
	Manifest manifestCmd `cmd:"" help:"List what is committed of a crawl, as JSON."`
	Decrypt  decryptCmd  `cmd:"" help:"Decrypt files of an output directory."`
	Shell    shellCmd    `cmd:"" name:"completion" help:"Print the script that makes a shell complete commands and flags."`
	Health   healthCmd   `cmd:"" help:"Ask a stage whether it is ready; for health checks."`
}

// grammar returns what kong makes its model of: a cli, or, where the first argument names a command, a struct that has
// that command alone. A model of all commands takes kong a dozen times as long (BenchmarkModel), which is a tenth of a
// small crawl. A configuration file may have flags of any command, so it is checked against all.
func grammar(args []string) any {
	all := reflect.TypeFor[cli]()
	isConfig := func(arg string) bool { return strings.HasPrefix(arg, "--config") }
	if len(args) == 0 || slices.ContainsFunc(args, isConfig) || os.Getenv(config.EnvPrefix+"_CONFIG") != "" {
		return new(cli)
	}
	var fields []reflect.StructField
	isCommand := false
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

// commandName is what a person types for the command of a field.
func commandName(field *reflect.StructField) string {
	if name, ok := field.Tag.Lookup("name"); ok {
		return name
	}
	return strings.ToLower(field.Name)
}
