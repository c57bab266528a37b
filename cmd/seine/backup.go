package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/run/backup"
	"seine/internal/run/connect"
	"seine/internal/run/process"
	"seine/pkg/stages"
)

type backupCmd struct {
	connect.Options
	To    string `help:"Directory to copy to: new or empty." env:"-" required:"" placeholder:"DIR"`
	Quiet bool   `short:"q" help:"Do not show progress." env:"-"`
	JSON  bool   `name:"json" help:"Print the report as JSON."`
}

// Help is shown below the list of flags.
func (c *backupCmd) Help() string {
	return `Copies the streams, consumers and buckets of a running cluster and the states of its frontiers. Copy the output afterwards, or
leave it in place: a restore accepts any state of the output since the start of the backup.

  seine backup --to /backup/2026-11-26
  seine restore --from /backup/2026-11-26 --nats nats://127.0.0.1:4222

Frontiers must make snapshots (--snapshot-every). The --state of frontiers and writers needs no copy. On a secured server, run it as admin.

Exit codes: 0 copied, 1 failed, 2 wrong usage, 4 interrupted.`
}

// Run copies the cluster.
func (c *backupCmd) Run() error {
	return withBus(&c.Options, "seine-backup", func(ctx context.Context, bus *stages.Bus) error {
		progress, end := progressLine(c.Quiet)
		defer end()
		m, err := (&backup.Backup{Bus: bus, Dir: c.To, Progress: progress}).Run(ctx)
		if err != nil {
			return err
		}
		end()
		return printBackup(os.Stdout, "copied to "+c.To, m, c.JSON)
	})
}

type restoreCmd struct {
	connect.Options
	From     string `help:"Directory of the backup." env:"-" required:"" type:"existingdir" placeholder:"DIR"`
	Replicas int    `help:"Replicas of each stream and bucket (default: as in the backup)." env:"-" placeholder:"N"`
	DryRun   bool   `help:"Verify the backup and check that it can be restored; change nothing." env:"-"`
	Quiet    bool   `short:"q" help:"Do not show progress." env:"-"`
	JSON     bool   `name:"json" help:"Print the report as JSON."`
}

// Help is shown below the list of flags.
func (c *restoreCmd) Help() string {
	return `Restores a backup to a NATS server that has no streams of Seine. Stop all stages first; afterwards start them with the same --out.
Their --state may be empty or of any age: frontiers start from the states of the backup. If the command was interrupted, run it again.

  seine restore --from /backup/2026-11-26 --dry-run
  seine restore --from /backup/2026-11-26

Exit codes: 0 restored, 1 failed or not possible, 2 wrong usage, 4 interrupted.`
}

// Validate returns an error for an invalid option.
func (c *restoreCmd) Validate() error {
	if c.Replicas < 0 || c.Replicas > 5 {
		return fmt.Errorf("--replicas %d: must be from 1 to 5", c.Replicas)
	}
	return c.Options.Validate()
}

// Run restores the cluster.
func (c *restoreCmd) Run() error {
	return withBus(&c.Options, "seine-restore", func(ctx context.Context, bus *stages.Bus) error {
		progress, end := progressLine(c.Quiet)
		defer end()
		restore := &backup.Restore{Bus: bus, Dir: c.From, Replicas: c.Replicas, Progress: progress}
		do, did := restore.Run, "restored from "+c.From
		if c.DryRun {
			do, did = restore.Check, "nothing is in the way of "+c.From
		}
		m, err := do(ctx)
		if err != nil {
			return err
		}
		end()
		return printBackup(os.Stdout, did, m, c.JSON)
	})
}

// withBus calls do with a connection and a context that ends with a signal.
func withBus(o *connect.Options, name string, do func(context.Context, *stages.Bus) error) error {
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	err := dialAnd(ctx, o.Dial, name, do)
	if errors.Is(err, context.Canceled) {
		return errors.Join(endError(exitInterrupted), err)
	}
	return err
}

// progressLine returns functions that show and clear progress on one line of a terminal. show is
// nil if there is no progress to show.
func progressLine(quiet bool) (show func(string), end func()) {
	if quiet || !isTerminal(os.Stderr) {
		return nil, func() {}
	}
	show = func(text string) { safeprint.Fprintf(os.Stderr, "\r\x1b[K%s", text) }
	return show, func() { show("") }
}

func printBackup(w io.Writer, did string, m *backup.Manifest, asJSON bool) error {
	if asJSON {
		return printJSON(m)
	}
	safeprint.Fprintf(w, "%s\n\n", did)
	safeprint.Fprintf(w, "  streams    %s in %d streams and buckets\n", humanize.Plural(m.Messages(), "message"), len(m.Streams))
	safeprint.Fprintf(w, "  states     of %d of %s\n", len(m.Snapshots), humanize.Plural(m.Layout.Partitions, "partition"))
	safeprint.Fprintf(w, "  files      %d, %s\n", len(m.Files), humanize.Size(m.Bytes()))
	safeprint.Fprintf(w, "  as of      %s, made in %s by Seine %s\n", m.Began.Format(time.RFC3339), m.Ended.Sub(m.Began).Round(10*time.Millisecond), m.Version)
	return nil
}
