package main

import (
	"fmt"
	"io"

	"seine/bench/summary"
	"seine/pkg/messages"
)

// median of what get takes from the runs of a setup.
func median(runs []*crawlCosts, get func(*crawlCosts) float64) float64 {
	values := make([]float64, len(runs))
	for i, f := range runs {
		values[i] = get(f)
	}
	return summary.Median(values)
}

// ratio is the median of what runs of the same round have to each other.
func ratio(runs, of []*crawlCosts) float64 {
	pairs := make([]*crawlCosts, len(runs))
	for i := range runs {
		pairs[i] = &crawlCosts{rate: runs[i].rate / of[i].rate}
	}
	return median(pairs, func(f *crawlCosts) float64 { return f.rate })
}

// report prints the tables of a plan.
func report(w io.Writer, setups []setup, runs [][]*crawlCosts) {
	fmt.Fprintln(w, "| | pages/s | of the first | CPU ms/page: frontier | fetcher | parser | writer | NATS | all |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	for i, s := range setups {
		fmt.Fprintf(w, "| %s | %.0f | %.2f |", s.name, median(runs[i], func(f *crawlCosts) float64 { return f.rate }), ratio(runs[i], runs[0]))
		for _, part := range parts {
			fmt.Fprintf(w, " %.2f |", median(runs[i], func(f *crawlCosts) float64 { return f.cpu[part] }))
		}
		fmt.Fprintf(w, " %.2f |\n", median(runs[i], (*crawlCosts).total))
	}
	fmt.Fprintln(w, "\n| | NATS in B/page | out | on its disks | output B/page |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|")
	for i, s := range setups {
		fmt.Fprintf(w, "| %s |", s.name)
		for _, get := range []func(*crawlCosts) float64{
			func(f *crawlCosts) float64 { return f.in }, func(f *crawlCosts) float64 { return f.out },
			func(f *crawlCosts) float64 { return f.broker }, func(f *crawlCosts) float64 { return f.output },
		} {
			fmt.Fprintf(w, " %.0f |", median(runs[i], get))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\n| stream, %s | messages/page | B/page |\n|---|---:|---:|\n", setups[0].name)
	for _, s := range messages.Streams(messages.DefaultStreamLimits(), 1) {
		fmt.Fprintf(w, "| %s | %.2f | %.0f |\n", s.Name,
			median(runs[0], func(f *crawlCosts) float64 { return f.messages[s.Name] }),
			median(runs[0], func(f *crawlCosts) float64 { return f.bytes[s.Name] }))
	}
}

// model prints what crawls of several sizes would need if a page cost what it costs in the last setup.
func (o *options) model(w io.Writer, setups []setup, runs [][]*crawlCosts) {
	last := len(setups) - 1
	get := func(of func(*crawlCosts) float64) float64 { return median(runs[last], of) }
	fmt.Fprintf(w, "\nAs %q costs, in %g days, with cores that work %.0f %% of the time, and %g known URLs for each page:\n\n",
		setups[last].name, o.Days, 100*o.Busy, o.Known)
	fmt.Fprintln(w, "| pages | pages/s | cores: frontier | fetcher | parser | writer | NATS | NATS in MB/s | out MB/s | PAGES GB/day | frontier's disk GB | output GB |")
	fmt.Fprintln(w, "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, pages := range []float64{1e7, 1e8, 1e9} {
		rate := pages / o.Days / 86400
		fmt.Fprintf(w, "| %.0e | %.0f |", pages, rate)
		for _, part := range parts {
			fmt.Fprintf(w, " %.2f |", rate*get(func(f *crawlCosts) float64 { return f.cpu[part] })/1000/o.Busy)
		}
		fmt.Fprintf(w, " %.2f | %.2f | %.1f | %.1f | %.0f |\n",
			rate*get(func(f *crawlCosts) float64 { return f.in })/1e6, rate*get(func(f *crawlCosts) float64 { return f.out })/1e6,
			rate*86400*get(func(f *crawlCosts) float64 { return f.bytes[messages.StreamPages] })/1e9,
			pages*o.Known*o.URLDisk/1e9,
			pages*get(func(f *crawlCosts) float64 { return f.output })/1e9)
	}
}
