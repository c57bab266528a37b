package main

import (
	"fmt"
	"io"
	"strings"

	"seine/bench/fleet"
	"seine/bench/summary"
)

// figures are what one run has in each column.
type figures []float64

// columns of the table: what a page costs in all, and then each kind of process that there is.
func columns(used fleet.Usage) []string {
	return append([]string{"pages/s", "CPU ms/page"}, used.Kinds()...)
}

// figuresOf is a run of some requests a second, each of which had some ms of CPU.
func figuresOf(rate float64, cpu fleet.Usage) figures {
	f := figures{rate, cpu.Total()}
	for _, kind := range cpu.Kinds() {
		f = append(f, cpu[kind])
	}
	return f
}

// ratios are what runs have to those of the same rounds.
func ratios(runs, of []figures) []figures {
	all := make([]figures, len(runs))
	for i := range runs {
		for column := range runs[i] {
			all[i] = append(all[i], runs[i][column]/of[i][column])
		}
	}
	return all
}

// report prints medians with their ranges: of each build, and of what the second has to the first in each round.
func report(w io.Writer, columns []string, runs [][]figures) {
	fmt.Fprintf(w, "| | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
	for i := range runs {
		row(w, buildNames[i], runs[i], "%.0f", "%.3f")
	}
	if len(runs) == 2 {
		row(w, "B to A", ratios(runs[1], runs[0]), "%.2f", "%.2f")
	}
}

// row prints the rate in one format, and the costs in another.
func row(w io.Writer, name string, runs []figures, rate, cost string) {
	fmt.Fprintf(w, "| %s |", name)
	for column := range runs[0] {
		values := make([]float64, len(runs))
		for i, f := range runs {
			values[i] = f[column]
		}
		format := cost
		if column == 0 {
			format = rate
		}
		fmt.Fprintf(w, " %s |", summary.Spread(format, values))
	}
	fmt.Fprintln(w)
}
