//go:build linux

package main

import (
	"fmt"
	"io"

	"seine/bench/summary"
)

// median of what get takes from the runs of a setup.
func median(runs []*costs, get func(int, *costs) float64) float64 {
	values := make([]float64, len(runs))
	for i, c := range runs {
		values[i] = get(i, c)
	}
	return summary.Median(values)
}

// report prints a table: rates, as shares of the first setup's in the same round, too, and CPU for each page.
func report(w io.Writer, o options, all []setup, runs [][]*costs) {
	fmt.Fprintf(w, "\n%d sites, %d pages, %d rounds; medians\n\n", o.Hosts, runs[0][0].pages, o.Rounds)
	fmt.Fprint(w, "| | pages/s | of the first | KB/page on the network | CPU ms/page:")
	for _, role := range roles {
		fmt.Fprintf(w, " %s |", role)
	}
	fmt.Fprint(w, "\n|---|---:|---:|---:|")
	for range roles {
		fmt.Fprint(w, "---:|")
	}
	fmt.Fprintln(w)
	for i, s := range all {
		fmt.Fprintf(w, "| %s | %.0f | %.2f | %.0f |", s.name,
			median(runs[i], func(_ int, c *costs) float64 { return c.rate }),
			median(runs[i], func(round int, c *costs) float64 { return c.rate / runs[0][round].rate }),
			median(runs[i], func(_ int, c *costs) float64 { return c.sent / 1000 }))
		for _, role := range roles {
			fmt.Fprintf(w, " %.2f |", median(runs[i], func(_ int, c *costs) float64 { return c.cpu[role] }))
		}
		fmt.Fprintln(w)
	}
}
