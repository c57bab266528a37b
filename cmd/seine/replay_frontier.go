package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/safeprint"
	"seine/internal/run/process"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/state"
)

type replayFrontierCmd struct {
	streamFlags
	State      string `help:"Directory for the rebuilt state. It must not be the directory of a frontier." required:"" env:"-" placeholder:"DIR"`
	Partitions string `help:"Rebuild only these partitions, such as 0-3,7." env:"-" placeholder:"LIST"`
	JSON       bool   `name:"json" help:"Print one JSON object per partition."`
}

// Help is shown below the list of flags.
func (c *replayFrontierCmd) Help() string {
	return `Rebuilds the state of each partition from its newest snapshot and the later messages of URLS, RESULTS and FETCH, and prints what it
contains. This shows that a lost frontier can be rebuilt. Running frontiers are not affected: the command takes no lease and sends no
request.

  seine replay frontier --state ./frontier-copy
  seine replay frontier --data ./seine-data --state ./copy --json | jq .crawls

Exit codes: 0 all partitions rebuilt, 1 some not: they have no snapshot, and their streams were purged.`
}

// Run makes the state again, partition by partition.
func (c *replayFrontierCmd) Run() error {
	log := c.logger(os.Stderr)
	ctx, stop := process.Signals(context.Background(), os.Stderr)
	defer stop()
	bus, end, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer end()
	partitions, err := c.partitions(bus.Layout.Partitions)
	if err != nil {
		return usageError{err}
	}
	store, err := state.OpenStore(c.State, 64<<20, state.SyncOS, c.key, log)
	if err != nil {
		return err
	}
	err = c.rebuild(ctx, bus, store, partitions)
	if errors.Is(err, context.Canceled) {
		err = endError(exitInterrupted)
	}
	return errors.Join(err, store.Close())
}

func (c *replayFrontierCmd) partitions(n int) (all []int, err error) {
	if c.Partitions != "" {
		all, err = frontier.PartitionSelector(c.Partitions).Partitions(n)
		if err != nil || all == nil {
			return nil, fmt.Errorf("--partitions %q: must be a list such as 0-3,7, of 0 to %d", c.Partitions, n-1)
		}
		return all, nil
	}
	for p := range n {
		all = append(all, p)
	}
	return all, nil
}

func (c *replayFrontierCmd) rebuild(ctx context.Context, bus *stages.Bus, store *state.Store, partitions []int) error {
	specs, stop, err := stages.FollowSpecs(ctx, bus)
	if err != nil {
		return err
	}
	defer stop()
	r, err := frontier.NewRebuilder(ctx, bus, specs, store)
	if err != nil {
		return fmt.Errorf("--state %w", err)
	}
	var all []*frontier.RebuildResult
	purged := 0
	for _, p := range partitions {
		if !c.Quiet && isTerminal(os.Stderr) {
			safeprint.Fprintf(os.Stderr, "\r\x1b[Kpartition %d, %d of %d", p, len(all)+1, len(partitions))
		}
		out, err := r.Rebuild(ctx, p)
		if !c.Quiet && isTerminal(os.Stderr) {
			safeprint.Fprintf(os.Stderr, "\r\x1b[K")
		}
		switch {
		case errors.Is(err, frontier.ErrPurged):
			tell(os.Stderr, err)
			purged++
			continue
		case err != nil:
			return err
		}
		all = append(all, out)
		if c.JSON {
			if err := json.NewEncoder(dataOut()).Encode(out); err != nil {
				return fmt.Errorf("print partition: %w", err)
			}
		}
	}
	if !c.JSON {
		printRebuilt(os.Stdout, all, c.State)
	}
	if purged > 0 {
		return fmt.Errorf("%s could not be made again", humanize.Plural(purged, "partition"))
	}
	return nil
}

// printRebuilt tells what is in the state of partitions.
func printRebuilt(w io.Writer, all []*frontier.RebuildResult, state string) {
	if len(all) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	safeprint.Fprintf(t, "PARTITION\tSNAPSHOT\tMESSAGES SINCE\tIN FETCH\tHOSTS\tURLS\t\n")
	total := make(map[string]*frontierapi.Counters)
	for _, p := range all {
		age, urls := "none", int64(0)
		if !p.Snapshot.IsZero() {
			age = time.Since(p.Snapshot).Round(time.Second).String() + " old"
		}
		for name, counters := range p.Crawls {
			urls += counters.Known()
			if total[name] == nil {
				total[name] = new(frontierapi.Counters)
			}
			total[name].Add(&counters)
		}
		safeprint.Fprintf(t, "%d\t%s\t%s\t%d\t%s\t%s\t\n", p.Partition, age, humanize.Count(p.Messages), p.Requests, humanize.Count(p.Hosts), humanize.Count(urls))
	}
	_ = t.Flush()
	for _, name := range slices.Sorted(maps.Keys(total)) {
		n := total[name]
		safeprint.Fprintf(w, "\ncrawl %s: %s pages, %s URLs known: %s done, %s failed, %s queued, %s waiting for a retry, %s in flight, %s being parsed\n",
			name, humanize.Count(n.Pages), humanize.Count(n.Known()), humanize.Count(n.Done), humanize.Count(n.Failed), humanize.Count(n.Queued),
			humanize.Count(n.Waiting), humanize.Count(n.InFlight), humanize.Count(n.Parsing))
		if len(n.Excluded) > 0 {
			safeprint.Fprintf(w, "excluded: %s\n", humanize.ByCount(n.Excluded))
		}
	}
	safeprint.Fprintf(w, "\nthe state of %s is in %s\n", humanize.Plural(len(all), "partition"), state)
}
