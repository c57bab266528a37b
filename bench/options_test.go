package main

import (
	"slices"
	"testing"

	"seine/bench/others"
)

func TestParseOptions(t *testing.T) {
	o, err := parseOptions([]string{"--runs", "2", "--only=bare,wget2", "--dir", t.TempDir(), "--index", "."})
	if err != nil || o.Runs != 2 || o.Parallel != 16 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{
		{"--runs", "0"}, {"--parallel", "1000"}, {"--timeout", "1ms"}, {"--pages", "0"}, {"--unknown"}, {"extra"},
		{"--dir", t.TempDir()}, // without an index
	} {
		if _, err := parseOptions(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

func TestChooseCrawlers(t *testing.T) {
	chosen, err := others.Choose("--only", "bare,seine", crawlers)
	if err != nil || !slices.Equal(chosen, []others.Crawler{seine{}, bare{}}) {
		t.Errorf("%v, %v", chosen, err)
	}
	if all, err := others.Choose("--only", "", crawlers); err != nil || len(all) != len(crawlers) {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := others.Choose("--only", "bare,other", crawlers); err == nil {
		t.Error("an unknown crawler is accepted")
	}
}

func TestClaimedPages(t *testing.T) {
	if got := claimedPages(`{"pages": 7, "bytes": 1}` + "\n"); got == nil || *got != 7 {
		t.Errorf("claimed %v", got)
	}
	for _, stdout := range []string{"", "not json", `{"bytes": 1}`} {
		if got := claimedPages(stdout); got != nil {
			t.Errorf("%q claims %d", stdout, *got)
		}
	}
}
