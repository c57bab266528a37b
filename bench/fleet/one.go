package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"seine/bench/proc"
	"seine/pkg/crawlspec"
)

// StartOne starts `seine crawl` for what Start and Feed do by a nats-server and the stages.
func StartOne(fail context.CancelCauseFunc, bin, dir string, spec *crawlspec.Spec, seeds []string, more ...string) (*Fleet, error) {
	args, err := oneArgs(dir, spec, seeds)
	if err != nil {
		return nil, err
	}
	f := &Fleet{bin: bin, dir: dir, fail: fail}
	return f, f.start(one, append(args, more...)...)
}

// RunOne does such a crawl to its end, and tells what all of it has cost.
func RunOne(ctx context.Context, bin, dir string, spec *crawlspec.Spec, seeds []string, more ...string) (Usage, error) {
	args, err := oneArgs(dir, spec, seeds)
	if err != nil {
		return nil, err
	}
	seconds, err := proc.Run(ctx, filepath.Join(bin, one), append(args, more...)...)
	return Usage{one: seconds}, err
}

// oneArgs are the arguments of a crawl, whose seeds are too many for them and come from a file.
func oneArgs(dir string, spec *crawlspec.Spec, seeds []string) ([]string, error) {
	file := filepath.Join(dir, "seeds.yaml")
	if err := os.WriteFile(file, []byte("seeds:\n- "+strings.Join(seeds, "\n- ")+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("write seeds: %w", err)
	}
	return []string{
		"crawl", "--spec", file, "--data", filepath.Join(dir, "data"), "--out", Out(dir), "--allow-private", "--quiet",
		"--delay", spec.Delay.String(), "--per-host", strconv.Itoa(spec.PerHost),
	}, nil
}
