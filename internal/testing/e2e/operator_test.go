package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/ops/overview"
	"seine/internal/testing/testweb"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// An operator inspects and controls a cluster with commands only.
func TestOperatorSteersACrawl(t *testing.T) {
	site, _ := testSite(t, testweb.Config{PagesPerHost: 60})
	c := newCluster(t, shape{})
	bus := c.bus()
	seine := func(args ...string) *command { return runSeine(t, append(args, "--nats", c.url)...) }

	spec := filepath.Join(t.TempDir(), "spec.yaml")
	write := func(text string) {
		if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("delay: 0s\nper_host: 4\nallow_private: true\nstate: paused\n")
	if out := seine("spec", "diff", spec, "--crawl", "op"); out.code() != 1 || !strings.Contains(out.stdout.String(), `+ state: "paused"`) {
		t.Errorf("spec diff ends with %d: %s", out.code(), out.stdout)
	}
	wantOutput(t, seine("spec", "apply", spec, "--crawl", "op"), "as revision 1")
	wantOutput(t, seine("spec", "apply", spec, "--crawl", "op"), "has it already")
	wantOutput(t, seine("spec", "list"), "op", "paused")

	urls := filepath.Join(t.TempDir(), "urls.txt")
	if err := os.WriteFile(urls, []byte("# the start\n"+site.seed+"\nftp://nowhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fed := seine("seed", "--crawl", "op", "--file", urls)
	if fed.code() != 2 || !strings.Contains(fed.stdout.String(), "1 URL was added") || !strings.Contains(fed.stderr.String(), "ftp://nowhere") {
		t.Errorf("seed ends with %d: %s%s", fed.code(), fed.stdout, fed.stderr)
	}
	status := func() (o overview.Overview) {
		t.Helper()
		out := seine("status", "--json", "--every", "100ms")
		if err := json.Unmarshal([]byte(out.stdout.String()), &o); err != nil {
			t.Fatalf("status: %v: %s%s", err, out.stdout, out.stderr)
		}
		return o
	}
	eventually(t, time.Minute, "queue the seed", func() (bool, string) {
		o := status()
		return len(o.Crawls) == 1 && o.Crawls[0].Queued == 1 && o.Crawls[0].State == overview.Paused, ""
	})
	for _, s := range status().Stages {
		if s.Instances != 1 {
			t.Errorf("status has %d of %s", s.Instances, s.Name)
		}
	}
	wantOutput(t, seine("doctor"), "ok    nats: ", "1 frontier, 1 fetcher, 1 parser, 1 writer default", "frontier: all 16 have an owner", "warn  crawl op: is paused")
	c.parse[0].kill()
	if out := seine("doctor"); out.code() != 1 || !strings.Contains(out.stdout.String(), "fail  stages: no running parser") {
		t.Errorf("without a parser doctor ends with %d: %s", out.code(), out.stdout)
	}
	wantOutput(t, seine("status", "--every", "100ms"), "WARNING no running parser\n")
	c.parse[0].start()
	wantOutput(t, seine("resume", "--crawl", "op"), "is resumed")
	c.finish(bus, "op", time.Minute)
	wantPages(t, records(t, c.out(), "op"), site.pages)
}

func TestOperatorRedrivesDeadLetters(t *testing.T) {
	c := newCluster(t, shape{})
	bus := c.bus()
	seine := func(args ...string) *command { return runSeine(t, append(args, "--nats", c.url)...) }
	for _, m := range []*nats.Msg{
		{Subject: messages.SubjectSeeds("op"), Data: []byte("not a URL")},
		{Subject: messages.SubjectSeeds("op"), Data: []byte("ftp://nowhere/")},
	} {
		if err := stages.NewPublisher(bus, "test").Publish(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	listed := func(args ...string) []string {
		return strings.Split(strings.TrimSpace(seine(append([]string{"dead", "list"}, args...)...).stdout.String()), "\n")[1:]
	}
	eventually(t, time.Minute, "give up on both", func() (bool, string) {
		all := listed("--crawl", "op", "--stage", "frontier")
		return len(all) == 2, strings.Join(all, "\n")
	})
	all := listed("--reason", "FTP")
	if len(all) != 1 {
		t.Fatalf("with the reason: %q", all)
	}
	seq := strings.Fields(all[0])[0]
	wantOutput(t, seine("dead", "show", seq), "ftp://nowhere/", "SEEDS")
	wantOutput(t, seine("dead", "drop", seq), "1 dead letter was removed")
	if out := seine("dead", "show", seq); out.code() != 1 || !strings.Contains(out.stderr.String(), "no such dead letter") {
		t.Errorf("a letter that is gone: %d, %s", out.code(), out.stderr)
	}
	wantOutput(t, seine("dead", "redrive", "--all", "--crawl", "op"), "1 message is back")
	eventually(t, time.Minute, "fail again", func() (bool, string) {
		out := seine("dead", "list", "--json").stdout.String()
		return strings.Count(out, "\n") == 1 && strings.Contains(out, `"redriven":1`), out
	})
	if out := seine("dead", "redrive"); out.code() != 2 || !strings.Contains(out.stderr.String(), "--all") {
		t.Errorf("redrive of nothing: %d, %s", out.code(), out.stderr)
	}
}

// runSeine runs the command to its end.
func runSeine(t *testing.T, args ...string) *command {
	t.Helper()
	c := seine(t, "", args...)
	select {
	case <-c.gone:
	case <-time.After(patience):
		t.Fatalf("%v does not end; it said:\n%s", args, c.said())
	}
	return c
}

// code returns the exit code of an ended command.
func (c *command) code() int { return c.cmd.ProcessState.ExitCode() }

func wantOutput(t *testing.T, c *command, words ...string) {
	t.Helper()
	if c.code() != 0 {
		t.Errorf("%v ends with %d: %s", c.cmd.Args[1:], c.code(), c.stderr)
	}
	for _, w := range words {
		if !strings.Contains(c.stdout.String(), w) {
			t.Errorf("%v does not say %q: %s", c.cmd.Args[1:], w, c.stdout)
		}
	}
}
