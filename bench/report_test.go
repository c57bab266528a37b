package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"seine/bench/others"
)

func sound(seconds float64) run {
	return run{
		usage:    usage{Wall: time.Duration(seconds * float64(time.Second)), CPU: time.Second, RSS: 20e6},
		Pages:    100,
		Requests: 104,
	}
}

func TestReport(t *testing.T) {
	missing := sound(4)
	missing.Missing = []string{"/a", "/b"}
	failed := sound(9)
	failed.Failure = errors.New("exit status 1")
	said := sound(2)
	said.Claimed = new(99)
	entries := []*entry{
		{crawler: seine{}, parallel: 4, runs: []run{sound(1), said, sound(2)}},
		{crawler: others.Colly{}, parallel: 4, runs: []run{missing, failed, sound(2)}},
		{crawler: others.Wget2{}, skipped: others.ErrNotInstalled},
	}
	var out strings.Builder
	report(&out, []string{"about"}, entries)
	for _, want := range []string{
		"| seine ! | 3 | 100 | 104 | 2.00 (1.00–2.00) | 50 (50–100) | 1.00 | 20 | 0.00 | 1.00 |\n",
		"| colly ! | 2 of 3 | 100 | 104 | 3.00 (2.00–4.00) | 38 (25–50) | 1.00 | 20 | 0.00 | 0.62 (0.25–1.00) |\n",
		"- about\n",
		"- colly: `colly -n 4 -out DIR/pages.jsonl.zst URL`\n",
		"- ! seine, in 1 of 3 runs: says it has 99 pages\n",
		"- ! colly, in 1 of 3 runs: misses 2 pages, as /a\n",
		"- ! colly, in 1 of 3 runs: failed: exit status 1\n",
		"- wget2 was skipped: not installed\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

func TestReportOfNothing(t *testing.T) {
	var out strings.Builder
	report(&out, nil, []*entry{{crawler: seine{}}})
	if out.Len() > 0 {
		t.Errorf("it says %q", out.String())
	}
}

func TestRowOfFailuresOnly(t *testing.T) {
	cells := row(&entry{crawler: others.Colly{}, runs: []run{{Failure: errNoSite}}}, nil)
	if got := strings.Join(cells, " "); got != "colly ! 0 of 1 – – – – – – – –" {
		t.Errorf("row %q", got)
	}
}

func TestField(t *testing.T) {
	const text = "NAME=\"x\"\nPRETTY_NAME=\"An OS 12\"\nmodel name\t: A CPU\n"
	for _, c := range [][3]string{{"PRETTY_NAME", "=", "An OS 12"}, {"model name", ":", "A CPU"}, {"no", "=", "none"}} {
		if got := field(text, c[0], c[1], "none"); got != c[2] {
			t.Errorf("field %q is %q", c[0], got)
		}
	}
}
