// Command testweb serves a web to crawl: a generated one, the demo site, a site of a shape that
// scrapers are written for, or a folder of files.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"seine/internal/base/version"
	"seine/internal/testing/testweb"
)

func main() {
	var f flags
	kong.Parse(&f, kong.Name("testweb"), kong.Description("Serve a web to crawl, by default on loopback."),
		kong.Vars{"version": version.Line("testweb")})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, f, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testweb:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, and prints the start URLs to out. SIGHUP writes the log without ending
// the process.
func run(ctx context.Context, f flags, out io.Writer) error {
	if f.List {
		return list(f, out)
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	served, err := choose(f)
	if err != nil {
		return err
	}
	server, err := testweb.Serve(f.Addr, served.handler)
	if err != nil {
		return err
	}
	for _, start := range served.starts(server.Addr()) {
		fmt.Fprintln(out, start)
	}

	for {
		select {
		case <-hangup:
			if err := writeLog(f.Log, served.log); err != nil {
				fmt.Fprintln(os.Stderr, "testweb:", err)
			}
		case <-ctx.Done():
			server.Close()
			return writeLog(f.Log, served.log)
		}
	}
}
