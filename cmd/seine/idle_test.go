package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A flag that has no effect without another, or beside it, is rejected, and both are named.
func TestFlagsWithoutEffectAreRefused(t *testing.T) {
	for _, tt := range []struct {
		flags []string
		want  []string
	}{
		{[]string{"--warc-format", "warc.zst"}, []string{"--warc-format", "--warc DIR"}},
		{[]string{"--listen", "127.0.0.1:4222", "--nats", "nats://127.0.0.1:4222"}, []string{"--listen", "--nats"}},
		{[]string{"--s3-path-style"}, []string{"--s3-", "--out"}},
		{[]string{"--key", "{id}.json"}, []string{"--key", "--format objects"}},
		{[]string{"--csv-bom"}, []string{"--csv-bom", "--format csv"}},
		{[]string{"--nats-wait"}, []string{"--nats-", "--nats"}},
	} {
		code, _, stderr := seine(t, append([]string{"crawl", "https://a.example/", "--data", filepath.Join(t.TempDir(), "data"), "--out", t.TempDir()}, tt.flags...)...)
		if code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", tt.flags, code, exitUsage)
		}
		says(t, strings.Join(tt.flags, " "), stderr, tt.want...)
	}
}

// seine spec check reports settings without effect, and that the spec is valid all the same.
func TestSpecCheckTellsOfKeysWithoutEffect(t *testing.T) {
	code, stdout, _ := seine(t, "spec", "check", write(t, "spec.yaml", "per_host: 4\ncontact: me@example.org\nuser_agent: mybot/1.0\n"))
	if code != exitOK {
		t.Errorf("exit code %d", code)
	}
	says(t, "spec check", stdout, "spec.yaml: ok", "warning   per_host: does nothing beside a delay of 1s", "warning   contact: does nothing beside a user_agent")
}

func TestExamplesHaveNoKeyWithoutEffect(t *testing.T) {
	all, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil || len(all) == 0 {
		t.Fatalf("examples: %v, %v", all, err)
	}
	_, stdout, _ := seine(t, append([]string{"spec", "check"}, all...)...)
	if strings.Contains(stdout, "does nothing") {
		t.Errorf("examples: %s", stdout)
	}
}
