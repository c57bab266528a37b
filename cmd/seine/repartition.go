package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/run/connect"
	"seine/internal/run/repartition"
	"seine/pkg/stages"
)

type repartCmd struct {
	connect.Options
	To      int    `help:"New number of partitions." env:"-" placeholder:"N"`
	State   string `help:"Directory for intermediate state, twice as large as the stores of all frontiers. It is removed at the end." default:"./seine-repartition" env:"-" placeholder:"DIR"`
	DryRun  bool   `help:"Print what would be moved and what prevents it; change nothing. Stages may run." env:"-"`
	Abandon bool   `help:"Abandon an interrupted change, if it can still be abandoned." env:"-"`
	Quiet   bool   `short:"q" help:"Do not show progress." env:"-"`
	JSON    bool   `name:"json" help:"Print the report as JSON."`
}

// Help is shown below the list of flags.
func (c *repartCmd) Help() string {
	return `Changes the number of partitions of a cluster and keeps the state of all URLs, hosts and crawls. Pause all crawls, wait until no
request is in flight (--dry-run reports it), and stop all stages, but not NATS. Run the command, then start the frontiers with the new
--partitions. Frontiers must make snapshots (--snapshot-every). If the command was interrupted, run it again.

  seine repartition --to 64 --dry-run
  seine repartition --to 64
  frontier --state ./frontier --partitions 64

Exit codes: 0 changed, 1 failed or not possible, 2 wrong usage, 4 interrupted.`
}

// Validate names the option that is wrong, and what would be right.
func (c *repartCmd) Validate() error {
	switch {
	case c.Abandon && (c.To != 0 || c.DryRun):
		return errors.New("--abandon abandons the interrupted change: omit --to and --dry-run")
	case !c.Abandon && c.To == 0:
		return errors.New("--to is missing: the number of partitions that there are to be")
	}
	return c.Options.Validate() //nolint:wrapcheck // says all
}

// Run changes the number of partitions.
func (c *repartCmd) Run() error {
	return withBus(&c.Options, "seine-repartition", func(ctx context.Context, bus *stages.Bus) error {
		progress, end := progressLine(c.Quiet)
		defer end()
		return c.run(ctx, &repartition.Change{Bus: bus, To: c.To, Dir: c.State, Log: bus.Log, Progress: progress})
	})
}

func (c *repartCmd) run(ctx context.Context, change *repartition.Change) error {
	if c.Abandon {
		return change.Abandon(ctx) //nolint:wrapcheck // says all
	}
	do := change.Run
	if c.DryRun {
		do = change.DryRun
	}
	out, err := do(ctx)
	if err != nil {
		return err //nolint:wrapcheck // says all
	}
	if change.Progress != nil {
		change.Progress("")
	}
	switch {
	case out == nil:
		safeprint.Fprintf(os.Stdout, "the streams have %s already: nothing to do\n", humanize.Plural(c.To, "partition"))
	case c.JSON:
		if err := json.NewEncoder(dataOut()).Encode(out); err != nil {
			return fmt.Errorf("print report: %w", err)
		}
	default:
		printRepartition(os.Stdout, out, c.DryRun)
	}
	return nil
}

func printRepartition(w io.Writer, out *repartition.Report, dry bool) {
	verb := "moved"
	if dry {
		verb = "would move"
	}
	safeprint.Fprintf(w, "from %d to %s\n\n", out.From, humanize.Plural(out.To, "partition"))
	if out.URLs > 0 || dry {
		safeprint.Fprintf(w, "  URLs       %s on %s, of which %s %s to another partition\n", humanize.Count(out.URLs), humanize.Plural(int(out.Hosts), "host"), humanize.Count(out.Moved), verb)
		safeprint.Fprintf(w, "  partition  %s to %s URLs each\n", humanize.Count(out.Least), humanize.Count(out.Most))
	}
	if dry {
		for _, text := range out.Blockers {
			safeprint.Fprintf(w, "  in the way %s\n", text)
		}
		if len(out.Blockers) == 0 {
			safeprint.Fprintf(w, "  nothing is in the way\n")
		}
		return
	}
	if out.Bytes > 0 {
		safeprint.Fprintf(w, "  snapshots  %s\n", humanize.Size(out.Bytes))
	}
	safeprint.Fprintf(w, "  time       %s\n\nstart the frontiers with --partitions %d, then the other stages, and resume the crawls\n", out.Took.Round(10*time.Millisecond), out.To)
}
