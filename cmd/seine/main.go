// Command seine crawls: `seine crawl URL` runs all stages in one process. Other commands inspect
// and control crawls, and read their output.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	_ "seine/internal/base/heapgoal" // of commands and crawls in one process
	"seine/internal/base/safeprint"
	"seine/internal/base/version"
	"seine/internal/run/completion"
	"seine/internal/run/config"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitLimit       = 3
	exitInterrupted = 4
	exitSteered     = 5 // the crawl was cancelled or deleted
)

// endsProcess reports whether the process ends with its command, which is false only in tests.
var endsProcess bool

func main() {
	endsProcess = true
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if flag := wordFlags[strings.Join(args[:min(1, len(args))], "")]; flag != "" {
		args = append(slices.Clone(args[1:]), flag)
	}
	parser, err := config.New(grammar(args), "seine", "A polite web crawler that you can kill at any moment.",
		kong.Vars{"version": version.Line("seine")}, kong.UsageOnError(), kong.WithBeforeApply(preferTyped))
	if err != nil {
		safeprint.Fprintln(os.Stderr, "seine:", err)
		return exitFailed
	}
	if len(args) > 0 && args[0] == completion.Command {
		complete(parser, args[1:])
		return exitOK
	}
	ctx, err := config.Parse(parser, args)
	if err != nil {
		safeprint.Fprintf(os.Stderr, "seine: %v%s (see --help)\n", err, misplaced(args, err))
		return exitUsage
	}
	if ctx.Command() != healthCommand { // which health checks run repeatedly
		for _, text := range config.UnknownVariables(os.Environ()) {
			safeprint.Fprintln(os.Stderr, "seine:", text)
		}
	}
	err = ctx.Run()
	if err == nil {
		return exitOK
	}
	if end, ok := errors.AsType[endError](err); ok {
		return int(end)
	}
	tell(os.Stderr, err)
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	return exitFailed
}

// wordFlags maps words that people use as commands to flags.
var wordFlags = map[string]string{"help": "--help", "version": "--version"}

// misplaced returns a hint if a URL is in the place of the command, or apart from other URLs.
func misplaced(args []string, err error) string {
	text := err.Error()
	switch {
	case !strings.HasPrefix(text, "unexpected argument"):
	case isURL(args[0]):
		return ": did you mean seine crawl " + args[0] + "?"
	case strings.Contains(text, "://"):
		return ": write all URLs side by side, with no flag between them"
	}
	return ""
}

// endError is an exit code of a command that has already printed its error.
type endError int

func (e endError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// errUsage marks errors in the command line.
var errUsage = errors.New("usage")

type usageError struct{ err error }

func (e usageError) Error() string        { return e.err.Error() }
func (e usageError) Unwrap() error        { return e.err }
func (e usageError) Is(target error) bool { return target == errUsage }
