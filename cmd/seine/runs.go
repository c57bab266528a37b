package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"seine/internal/base/humanize"
	"seine/internal/base/jsontext"
	"seine/internal/base/safeprint"
	"seine/internal/ops/overview"
	"seine/internal/run/crawl"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/writer"
)

type runsCmd struct {
	connection
	Crawl string `help:"Only this crawl." placeholder:"NAME"`
	Last  int    `help:"Newest runs to show of each crawl. The frontier keeps 100." default:"20"`
	JSON  bool   `name:"json" help:"Print one JSON object per run."`
	URLs  string `name:"urls" help:"Also list the pages of the newest run that are new, changed, the same or gone, a line each, from this output." placeholder:"OUTPUT"`
	To    string `help:"Also store the runs in the table runs of this database: sqlite:FILE or postgres://…" placeholder:"DATABASE"`
}

// Help is shown below the list of flags.
func (c *runsCmd) Help() string {
	return `Examples:

  seine runs                        # newest first
  seine runs --crawl shop --json | jq '{started, ended, records}'
  seine runs --crawl shop --last 1 --urls ./seine-out | grep ^gone
  seine runs --last 100 --to postgres://seine@db.example/crawls

A schedule or seine crawl --again starts a run; other crawls have one run. NEW, CHANGED and SAME count pages in comparison with their
previous visit, byte by byte; --urls compares the fields of their records. GONE counts pages that now return 404 or 410 and did
not before; FAILED includes them, and pages gone in earlier runs. Visits planned by recrawl rules belong to no run.

The URLs behind the counts: seine failures lists those that failed, and --urls the others, if the crawl has records of pages. For those of
an earlier run, and for what has changed: seine cat ./seine-out --changes --kind page --run RUN.`
}

// Run shows the statistics of the runs of crawls.
func (c *runsCmd) Run() error {
	if c.Last < 1 || c.Last > frontierapi.MaxRuns {
		return usageError{fmt.Errorf("--last %d: must be from 1 to %d", c.Last, frontierapi.MaxRuns)}
	}
	if c.To != "" && !writer.IsDatabase(c.To) {
		return usageError{fmt.Errorf("--to %s: must be sqlite:FILE or postgres://…", c.To)}
	}
	return c.readOnly("runs", func(ctx context.Context, bus *stages.Bus) error {
		if err := checkThere(ctx, bus, c.Crawl); err != nil {
			return err
		}
		names := []string{c.Crawl}
		if c.Crawl == "" {
			var err error
			if names, err = overview.Names(ctx, bus); err != nil {
				return err
			}
		}
		return c.each(ctx, bus, names)
	})
}

// each shows the runs of some crawls.
func (c *runsCmd) each(ctx context.Context, bus *stages.Bus, names []string) error {
	specs, err := stages.OpenSpecs(ctx, bus)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		safeprint.Fprintln(os.Stderr, "there is no crawl")
	}
	for i, name := range names {
		spec, err := specs.Get(ctx, name, 0)
		if err != nil {
			return err
		}
		runs, err := frontierapi.Client{Bus: bus}.Runs(ctx, name, spec.Spec, c.Last)
		if err != nil {
			return err
		}
		if c.To != "" {
			if err := crawl.StoreRuns(ctx, c.To, name, runs); err != nil {
				return err
			}
		}
		if c.JSON {
			err = encodeRuns(dataOut(), name, runs)
		} else {
			if i > 0 {
				safeprint.Println()
			}
			err = printRuns(os.Stdout, name, runs)
		}
		if err == nil && c.URLs != "" {
			err = c.printURLs(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printURLs lists the pages of the newest run by what changed.
func (c *runsCmd) printURLs(crawl string) error {
	changes := catCmd{Paths: []string{c.URLs}, Changes: true, Crawl: crawl, Kind: messages.KindPage, RunOnly: lastRun, Format: "jsonl"}
	if c.JSON {
		return changes.Run()
	}
	pages := make(map[string]int64)
	err := changes.each(func(line []byte) error {
		var r struct {
			Change string `json:"change"`
			URL    string `json:"url"`
		}
		if err := jsontext.Unmarshal(line, &r); err != nil {
			return err
		}
		pages[r.Change]++
		safeprint.Printf("%s\t%s\n", r.Change, r.URL)
		return nil
	})
	switch {
	case err != nil:
	case len(pages) == 0:
		safeprint.Fprintf(os.Stderr, "%s has no records of pages of crawl %s\n", writer.Redact(c.URLs), crawl)
	default:
		safeprint.Fprintf(os.Stderr, "%s: %s by their fields; the counts of the run compare bytes\n", crawl, humanize.ByCount(pages))
	}
	return err
}

// runLine is the JSON form of a run.
type runLine struct {
	Crawl string `json:"crawl"`
	frontierapi.Run
	DurationMS int64 `json:"duration_ms,omitempty"` // of a run that has ended
}

func encodeRuns(w io.Writer, crawl string, runs []frontierapi.Run) error {
	for i := range runs {
		line := runLine{Crawl: crawl, Run: runs[i], DurationMS: runs[i].Took().Milliseconds()}
		if err := json.NewEncoder(w).Encode(&line); err != nil {
			return err
		}
	}
	return nil
}

// printRuns prints the runs of a crawl.
func printRuns(w io.Writer, crawl string, runs []frontierapi.Run) error {
	safeprint.Fprintf(w, "crawl %s: %s\n", crawl, humanize.Plural(len(runs), "run"))
	if len(runs) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	safeprint.Fprintf(t, "STARTED\tTOOK\tREQUESTS\tPAGES\tNEW\tCHANGED\tSAME\tGONE\tFAILED\tBYTES\tRECORDS\n")
	for i := range runs {
		r := &runs[i]
		took := "running"
		if !r.Ended.IsZero() {
			took = r.Took().Round(time.Second / 10).String()
		}
		records := "-"
		if len(r.Records) > 0 {
			records = humanize.ByCount(r.Records)
		}
		safeprint.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Started.Local().Format(time.DateTime), took,
			humanize.Count(r.Asked()), humanize.Count(r.Pages), humanize.Count(r.New), humanize.Count(r.Changed), humanize.Count(r.Same),
			humanize.Count(r.Gone), humanize.Count(r.Failed), humanize.Size(r.BytesWire), records)
	}
	if runs[0].Failed > 0 {
		safeprint.Fprintf(t, "seine failures lists the failed URLs of %s\n", crawl)
	}
	return t.Flush()
}
