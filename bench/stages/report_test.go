package main

import (
	"strings"
	"testing"

	"seine/bench/fleet"
)

func TestReportOfTwoBuilds(t *testing.T) {
	cpu := func(nats, fetcher float64) fleet.Usage { return fleet.Usage{"fetcher": fetcher, "nats-server": nats} }
	runs := [][]figures{
		{figuresOf(1000, cpu(0.5, 1)), figuresOf(2000, cpu(0.5, 0.5)), figuresOf(1200, cpu(1, 1))},
		{figuresOf(2000, cpu(0.5, 1)), figuresOf(1000, cpu(1, 1)), figuresOf(1320, cpu(0.5, 1))},
	}
	var b strings.Builder
	report(&b, columns(cpu(1, 1)), runs)
	const want = `| | pages/s | CPU ms/page | nats-server | fetcher |
|---|---:|---:|---:|---:|
| A | 1200 (1000–2000) | 1.500 (1.000–2.000) | 0.500 (0.500–1.000) | 1.000 (0.500–1.000) |
| B | 1320 (1000–2000) | 1.500 (1.500–2.000) | 0.500 (0.500–1.000) | 1.000 (1.000–1.000) |
| B to A | 1.10 (0.50–2.00) | 1.00 (0.75–2.00) | 1.00 (0.50–2.00) | 1.00 (1.00–2.00) |
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
