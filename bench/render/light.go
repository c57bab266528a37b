package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"

	"seine/internal/testing/scriptweb"
)

// light compares the browsers, which show the same light pages in turn.
func (o *options) light(ctx context.Context, work string) error {
	web, err := scriptweb.Serve()
	if err != nil {
		return err
	}
	defer web.Close()
	for _, until := range o.Until {
		s := setup{path: o.Browser, tabs: o.Tabs, until: until, browserPages: o.BrowserPages, work: work, windows: o.Windows}
		runs := make([][]figures, len(kinds))
		for round := range o.Rounds {
			for i := range kinds {
				f, err := o.profiled(i == 0, func() (figures, error) { return s.round(ctx, web, kinds[i].start, o.Pages) })
				if err != nil {
					return fmt.Errorf("round %d of %s: %w", round+1, kinds[i].name, err)
				}
				fmt.Fprintf(os.Stderr, "%d %s %s: %+v\n", round+1, until, kinds[i].name, f)
				runs[i] = append(runs[i], f)
			}
		}
		t := table[figures]{os.Stdout, columns}
		t.heading(fmt.Sprintf("until %s, %d tabs, %d pages, rounds: %d", until, o.Tabs, o.Pages, o.Rounds))
		for i, k := range kinds {
			t.row(k.name, runs[i])
		}
		t.ratios("Seine to bare, pairs", "%.2f", len(columns), runs[0], runs[1])
	}
	return nil
}

// profiled writes a CPU profile of a round of Seine, if one is wanted: of the last round in the end.
func (o *options) profiled(seine bool, round func() (figures, error)) (figures, error) {
	if !seine || o.Profile == "" {
		return round()
	}
	file, err := os.Create(o.Profile)
	if err != nil {
		return figures{}, fmt.Errorf("write the profile: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := pprof.StartCPUProfile(file); err != nil {
		return figures{}, fmt.Errorf("write the profile: %w", err)
	}
	defer pprof.StopCPUProfile()
	return round()
}
