package main

import (
	"fmt"
	"io"
)

// autoColumns are those of the tables of crawls.
var autoColumns = []column[crawled]{
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
	t := table[crawled]{w, autoColumns}
	t.heading(fmt.Sprintf("--delay %s, %d static and %d app pages, rounds: %d", delay, o.Static, app, o.Rounds))
	for _, mode := range o.Modes {
		t.row(mode, runs[mode])
	}
	for _, mode := range o.Modes[1:] {
		t.ratios(mode+" to "+o.Modes[0]+", pairs", "%.3f", timeColumns, runs[mode], runs[o.Modes[0]])
	}
}
