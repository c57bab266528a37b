package main

import (
	"fmt"
	"io"
)

// autoColumns are those of the tables of crawls.
var autoColumns = []struct {
	name, format string
	value        func(crawled) float64
}{
	{"wall s", "%.2f", func(c crawled) float64 { return c.wall }},
	{"all requests, s", "%.2f", func(c crawled) float64 { return c.asking }},
	{"those for static pages, s", "%.2f", func(c crawled) float64 { return c.statics }},
	{"pages", "%.0f", func(c crawled) float64 { return float64(c.pages) }},
	{"leaves", "%.0f", func(c crawled) float64 { return float64(c.leaves) }},
	{"rendered", "%.0f", func(c crawled) float64 { return float64(c.rendered) }},
	{"static ones of them", "%.0f", func(c crawled) float64 { return float64(c.samples) }},
}

// timeColumns are how many of them are times, which are compared.
const timeColumns = 3

// reportAuto prints what crawls of a shop have shown, and the times of each mode beside those of the first, round by round.
func (o *options) reportAuto(w io.Writer, delay string, app int, runs map[string][]crawled) {
	fmt.Fprintf(w, "\n| --delay %s, %d static and %d app pages, rounds: %d |", delay, o.Static, app, o.Rounds)
	for _, c := range autoColumns {
		fmt.Fprintf(w, " %s |", c.name)
	}
	fmt.Fprint(w, "\n|---|")
	for range autoColumns {
		fmt.Fprint(w, "---:|")
	}
	fmt.Fprintln(w)
	for _, mode := range o.Modes {
		autoRow(w, mode, runs[mode])
	}
	for _, mode := range o.Modes[1:] {
		autoRatios(w, mode+" to "+o.Modes[0]+", pairs", runs[mode], runs[o.Modes[0]])
	}
}

func autoRow(w io.Writer, mode string, runs []crawled) {
	fmt.Fprintf(w, "| %s |", mode)
	for _, c := range autoColumns {
		values := make([]float64, len(runs))
		for i, run := range runs {
			values[i] = c.value(run)
		}
		fmt.Fprintf(w, " %s |", spread(c.format, values))
	}
	fmt.Fprintln(w)
}

func autoRatios(w io.Writer, name string, runs, of []crawled) {
	fmt.Fprintf(w, "| %s |", name)
	for i, c := range autoColumns {
		text := ""
		if i < timeColumns {
			values := make([]float64, len(runs))
			for r := range runs {
				values[r] = c.value(runs[r]) / c.value(of[r])
			}
			text = spread("%.3f", values)
		}
		fmt.Fprintf(w, " %s |", text)
	}
	fmt.Fprintln(w)
}
