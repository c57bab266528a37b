package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A flag that would have no effect beside another is rejected, and both are named.
func TestFlagsThatDoNothingAreRefused(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	for args, want := range map[string][]string{
		"hosts a.test --top 5":   {"--top", "a.test"},
		"hosts a.test --crawl c": {"--crawl", "a.test"},
		"replay parse --into-records --state " + state + " --format parquet --s3-region x": {"--into-records", "--format, --s3-region"},
		"replay parse --into-records --state " + state + " --chunk-age 5s":                 {"--into-records", "--chunk-age"},
		"replay parse --into-records --beyond-spec --state " + state:                       {"--into-records", "--beyond-spec", "--spec"},
	} {
		code, _, stderr := seine(t, append(strings.Fields(args), "--nats", "nats://127.0.0.1:1")...)
		if code != exitUsage {
			t.Errorf("seine %s ends with %d, want %d", args, code, exitUsage)
		}
		says(t, "seine "+args, stderr, want...)
	}
}

// A frontier's container has a variable for its state, which a replay must not use as its own.
func TestReplayTakesNoVariableOfTheStages(t *testing.T) {
	t.Setenv("SEINE_STATE", t.TempDir())
	code, _, stderr := seine(t, "replay", "parse", "--into-records", "--nats", hostileCluster(t))
	if code != exitUsage || !strings.Contains(stderr, "--state") {
		t.Errorf("seine replay parse --into-records without --state ends with %d: %s", code, stderr)
	}
}
