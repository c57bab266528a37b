package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"seine/bench/summary"
)

// header names the columns. The ratio is a crawler's pages/s to Seine's in the same round.
var header = []string{
	"Crawler", "Runs", "Pages", "Requests", "Wall s", "Pages/s", "CPU s", "Peak RSS MB", "Site CPU s", "Ratio to Seine",
}

// report prints the figures as a table to read, and again in Markdown with all that belongs to them.
func report(w io.Writer, about []string, entries []*entry) {
	rows := [][]string{header}
	for _, e := range entries {
		if len(e.runs) > 0 {
			rows = append(rows, row(e, reference(entries)))
		}
	}
	if len(rows) == 1 {
		return
	}
	aligned(w, rows)
	fmt.Fprintln(w, "\nMarkdown, median (min–max):")
	fmt.Fprintln(w)
	markdown(w, rows)
	fmt.Fprintln(w)
	for _, line := range slices.Concat(about, commands(entries), notes(entries)) {
		fmt.Fprintf(w, "- %s\n", line)
	}
}

func aligned(w io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	_ = t.Flush()
}

func markdown(w io.Writer, rows [][]string) {
	for i, r := range rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(r, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|---|%s\n", strings.Repeat("---:|", len(r)-1))
		}
	}
}

// reference are Seine's runs, if there are any.
func reference(entries []*entry) []run {
	for _, e := range entries {
		if e.crawler.Name() == "seine" {
			return e.runs
		}
	}
	return nil
}

// row is a crawler's line. Runs that failed are in the number of runs only; those that miss pages are marked.
func row(e *entry, seine []run) []string {
	var sound []run
	var ratios []float64
	marked := ""
	for i, r := range e.runs {
		if len(r.marks()) > 0 {
			marked = " !"
		}
		if r.Failure != nil {
			continue
		}
		sound = append(sound, r)
		if i < len(seine) && seine[i].Failure == nil {
			ratios = append(ratios, r.rate()/seine[i].rate())
		}
	}
	runs := fmt.Sprint(len(sound))
	if len(sound) < len(e.runs) {
		runs += fmt.Sprintf(" of %d", len(e.runs))
	}
	of := func(format string, get func(run) float64) string { return spread(format, each(sound, get)) }
	return []string{
		e.crawler.Name() + marked,
		runs,
		of("%.0f", func(r run) float64 { return float64(r.Pages) }),
		of("%.0f", func(r run) float64 { return float64(r.Requests) }),
		of("%.2f", func(r run) float64 { return r.Wall.Seconds() }),
		of("%.0f", run.rate),
		of("%.2f", func(r run) float64 { return r.CPU.Seconds() }),
		of("%.0f", func(r run) float64 { return megabytes(r.RSS) }),
		of("%.2f", func(r run) float64 { return r.ServerCPU.Seconds() }),
		spread("%.2f", ratios),
	}
}

func each(runs []run, get func(run) float64) []float64 {
	values := make([]float64, 0, len(runs))
	for _, r := range runs {
		values = append(values, get(r))
	}
	return values
}

// spread writes the median with minimum and maximum, or one figure where all read the same.
func spread(format string, values []float64) string {
	if len(values) == 0 {
		return "–"
	}
	low, high := fmt.Sprintf(format, slices.Min(values)), fmt.Sprintf(format, slices.Max(values))
	middle := fmt.Sprintf(format, summary.Median(values))
	if low == high {
		return middle
	}
	return fmt.Sprintf("%s (%s–%s)", middle, low, high)
}

// notes say what was marked, once each with the number of runs, and who was skipped.
func notes(entries []*entry) []string {
	var lines []string
	for _, e := range entries {
		if e.skipped != nil {
			lines = append(lines, fmt.Sprintf("%s was skipped: %v", e.crawler.Name(), e.skipped))
		}
		count := map[string]int{}
		var order []string
		for _, r := range e.runs {
			for _, mark := range r.marks() {
				if count[mark]++; count[mark] == 1 {
					order = append(order, mark)
				}
			}
		}
		for _, mark := range order {
			lines = append(lines, fmt.Sprintf("! %s, in %d of %d runs: %s", e.crawler.Name(), count[mark], len(e.runs), mark))
		}
	}
	return lines
}

func megabytes(b int64) float64 { return float64(b) / 1e6 }
