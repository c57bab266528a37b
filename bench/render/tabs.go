package main

import (
	"context"
	"fmt"
	"os"

	"seine/internal/testing/scriptweb"
)

// tabCounts are the numbers of tabs that are measured.
var tabCounts = []int{1, 2, 4, 8}

// tabs measures Seine's renderer with more and fewer tabs, in turn.
func (o *options) tabs(ctx context.Context, work string) error {
	web, err := scriptweb.Serve()
	if err != nil {
		return err
	}
	defer web.Close()
	for _, until := range o.Until {
		runs := make([][]figures, len(tabCounts))
		for round := range o.Rounds {
			for i, n := range tabCounts {
				s := setup{path: o.Browser, tabs: n, until: until, browserPages: o.BrowserPages, work: work}
				f, err := s.round(ctx, web, startSeine, o.Pages)
				if err != nil {
					return fmt.Errorf("round %d with %d tabs: %w", round+1, n, err)
				}
				fmt.Fprintf(os.Stderr, "%d %s %d tabs: %+v\n", round+1, until, n, f)
				runs[i] = append(runs[i], f)
			}
		}
		t := table[figures]{os.Stdout, columns}
		t.heading(fmt.Sprintf("until %s, %d pages, rounds: %d", until, o.Pages, o.Rounds))
		for i, n := range tabCounts {
			t.row(fmt.Sprint(n), runs[i])
		}
	}
	return nil
}
