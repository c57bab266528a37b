package main

import (
	"fmt"
	"io"
	"slices"
)

// columns are those of the tables of browsers, with how each is written.
var columns = []struct {
	name, format string
	value        func(figures) float64
}{
	{"pages/s", "%.1f", func(f figures) float64 { return f.rate }},
	{"CPU ms/page, browser", "%.0f", func(f figures) float64 { return 1000 * f.browser }},
	{"CPU ms/page, this process", "%.1f", func(f figures) float64 { return 1000 * f.here }},
	{"RSS MB", "%.0f", func(f figures) float64 { return f.rss }},
	{"PSS MB", "%.0f", func(f figures) float64 { return f.pss }},
	{"processes", "%.0f", func(f figures) float64 { return f.processes }},
}

func heading(w io.Writer, title string) {
	fmt.Fprintf(w, "\n| %s |", title)
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", c.name)
	}
	fmt.Fprint(w, "\n|---|")
	for range columns {
		fmt.Fprint(w, "---:|")
	}
	fmt.Fprintln(w)
}

// row writes the medians of some rounds, with their ranges.
func row(w io.Writer, name string, runs []figures) {
	fmt.Fprintf(w, "| %s |", name)
	for _, c := range columns {
		values := make([]float64, len(runs))
		for i, f := range runs {
			values[i] = c.value(f)
		}
		fmt.Fprintf(w, " %s |", spread(c.format, values))
	}
	fmt.Fprintln(w)
}

// ratioRow writes what some rounds have to those of others, pair by pair.
func ratioRow(w io.Writer, name string, runs, of []figures) {
	fmt.Fprintf(w, "| %s |", name)
	for _, c := range columns {
		values := make([]float64, len(runs))
		for i := range runs {
			values[i] = c.value(runs[i]) / c.value(of[i])
		}
		fmt.Fprintf(w, " %s |", spread("%.2f", values))
	}
	fmt.Fprintln(w)
}

// spread writes the median with the least and the most.
func spread(format string, values []float64) string {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	text := fmt.Sprintf(format, (s[(n-1)/2]+s[n/2])/2)
	if n == 1 {
		return text
	}
	return text + fmt.Sprintf(" ("+format+"–"+format+")", s[0], s[n-1])
}
