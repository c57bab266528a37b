// Command bare is the bare limit of the benchmark: how fast an HTTP client and an HTML tokenizer of Go can go when
// nothing has to be decided, remembered or stored.
//
//	bare fetch -n 16 LIST     fetches the URLs of a file, one per line, and reads title and links of each
//	bare collect -n 16 URL    follows links from a page on the same host, to find out what there is to fetch
//
// Both print one line that sums up what was read.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: bare fetch|collect [-n N] LIST|URL")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet("bare", flag.ContinueOnError)
	workers := flags.Int("n", 16, "requests at a time")
	limit := flags.Int("max", 500_000, "collect: most URLs to ask for")
	if err := flags.Parse(args[1:]); err != nil {
		return errUsage // the flag set has said what is wrong
	}
	if flags.NArg() != 1 || *workers < 1 {
		return errUsage
	}

	var t totals
	var err error
	switch args[0] {
	case "fetch":
		err = fetchList(ctx, flags.Arg(0), *workers, &t)
	case "collect":
		err = collect(ctx, flags.Arg(0), limits{*workers, *limit}, &t)
	default:
		return errUsage
	}
	fmt.Println(t.String())
	return err
}
