package main

import (
	"fmt"
	"io"

	"seine/bench/summary"
)

// column is one of a table, with how its values are written.
type column[T any] struct {
	name, format string
	value        func(T) float64
}

// table writes what rounds have shown.
type table[T any] struct {
	io.Writer
	columns []column[T]
}

func (t table[T]) heading(title string) {
	fmt.Fprintf(t, "\n| %s |", title)
	for _, c := range t.columns {
		fmt.Fprintf(t, " %s |", c.name)
	}
	fmt.Fprint(t, "\n|---|")
	for range t.columns {
		fmt.Fprint(t, "---:|")
	}
	fmt.Fprintln(t)
}

// row writes the medians of some rounds, with their ranges.
func (t table[T]) row(name string, runs []T) {
	fmt.Fprintf(t, "| %s |", name)
	for _, c := range t.columns {
		values := make([]float64, len(runs))
		for i, run := range runs {
			values[i] = c.value(run)
		}
		fmt.Fprintf(t, " %s |", summary.Spread(c.format, values))
	}
	fmt.Fprintln(t)
}

// ratios writes what some rounds have to those of others in the first so many columns, pair by pair.
func (t table[T]) ratios(name, format string, compared int, runs, of []T) {
	fmt.Fprintf(t, "| %s |", name)
	for i, c := range t.columns {
		text := ""
		if i < compared {
			values := make([]float64, len(runs))
			for r := range runs {
				values[r] = c.value(runs[r]) / c.value(of[r])
			}
			text = summary.Spread(format, values)
		}
		fmt.Fprintf(t, " %s |", text)
	}
	fmt.Fprintln(t)
}

// columns are those of the tables of browsers.
var columns = []column[figures]{
	{"pages/s", "%.1f", func(f figures) float64 { return f.rate }},
	{"CPU ms/page, browser", "%.0f", func(f figures) float64 { return 1000 * f.browser }},
	{"CPU ms/page, this process", "%.1f", func(f figures) float64 { return 1000 * f.here }},
	{"RSS MB", "%.0f", func(f figures) float64 { return f.rss }},
	{"PSS MB", "%.0f", func(f figures) float64 { return f.pss }},
	{"processes", "%.0f", func(f figures) float64 { return f.processes }},
}
