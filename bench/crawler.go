package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"seine/bench/others"
)

// crawlers are in the order they run.
var crawlers = []others.Crawler{seine{}, others.Wget2{}, others.Colly{}, others.Scrapy{}, others.Crawlee{}, bare{}}

// seine runs with its defaults and all outputs on, each run from nothing.
type seine struct{}

func (seine) Name() string { return "seine" }

func (seine) binary(d others.Dirs) string { return filepath.Join(d.Root, "bin", "seine") }

func (s seine) Prepare(ctx context.Context, d others.Dirs) (string, error) {
	if err := others.Build(ctx, d.Root, s.binary(d), "./cmd/seine", "-pgo=internal/release/cpu.pgo"); err != nil {
		return "", err
	}
	return revision(ctx, d.Root), nil
}

// Command lifts what Seine does to be polite and safe on the open web (--delay, --per-host, --allow-private,
// --robots), as the others do here.
func (s seine) Command(j others.Job) others.Command {
	argv := []string{
		s.binary(j.Dirs), "crawl", j.URL,
		"--data", j.Out("data"), "--out", j.Out("out"),
		"--delay", "0s", "--per-host", strconv.Itoa(j.Parallel), "--workers", strconv.Itoa(j.Parallel),
		"--allow-private", "--robots", "ignore", "--json", "--quiet",
	}
	if j.Profile != "" {
		argv = append(argv, "--cpuprofile", j.Profile)
	}
	return others.Command{Argv: argv, Dir: j.Dir, Claim: claimedPages}
}

// baselineSeine is another build of Seine, to see what a change is worth.
type baselineSeine struct{ path string }

func (baselineSeine) Name() string { return "beside" }

func (b baselineSeine) Prepare(context.Context, others.Dirs) (string, error) { return b.path, nil }

func (b baselineSeine) Command(j others.Job) others.Command {
	c := seine{}.Command(j)
	c.Argv[0] = b.path
	return c
}

// claimedPages reads the summary that --json prints.
func claimedPages(stdout string) *int {
	var summary struct {
		Pages *int `json:"pages"`
	}
	if json.Unmarshal([]byte(stdout), &summary) != nil {
		return nil
	}
	return summary.Pages
}

// bare is the program in bare/: the limit that no crawler in Go can reach, since it knows all URLs beforehand, remembers
// nothing and stores nothing.
type bare struct{}

func (bare) Name() string { return "bare" }

func (b bare) Prepare(ctx context.Context, d others.Dirs) (string, error) {
	bin := filepath.Join(d.Bin, b.Name())
	if err := others.Build(ctx, d.Bench, bin, "./bare"); err != nil {
		return "", err
	}
	return "golang.org/x/net " + others.Dependency(bin, "golang.org/x/net"), nil
}

func (b bare) Command(j others.Job) others.Command {
	return others.Command{Argv: []string{filepath.Join(j.Dirs.Bin, b.Name()), "fetch", "-n", strconv.Itoa(j.Parallel), j.List}, Dir: j.Dir}
}

// collect finds the pages by following links.
func (b bare) collect(j others.Job) others.Command {
	return others.Command{Argv: []string{filepath.Join(j.Dirs.Bin, b.Name()), "collect", "-n", strconv.Itoa(j.Parallel), j.URL}, Dir: j.Dir}
}

// revision is Seine's commit, if git knows it.
func revision(ctx context.Context, root string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return "Seine, of no known commit"
	}
	return "Seine " + strings.TrimSpace(string(out))
}
