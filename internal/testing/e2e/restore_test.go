package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// A cluster is backed up while it crawls, continues, and then loses all of its processes and the
// data of NATS. After the restore every page is in the output once: both if the output and the
// states survive, and if the states are lost too and the output is a copy made after the backup.
func TestClusterIsRestoredInMidCrawl(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"NATS is lost": false, "all but the backup is lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const hosts = 12
			web := serveHosts(t, testweb.Config{Hosts: hosts, PagesPerHost: 40, LinksPerPage: 8, CrossHostLinks: 0.2, PageBytes: 4 << 10, Latency: 20 * time.Millisecond})
			c := newCluster(t, shape{frontierArgs: []string{"--snapshot-every", "1s"}, writerAge: "500ms"})
			spec := crawlspec.Default()
			spec.Delay, spec.PerHost, spec.AllowPrivate, spec.MaxPages = 0, 1, true, 1<<20
			c.begin(c.bus(), "many", &spec, seedsOf(web.server, hosts)...)
			fetched := func(share float64) {
				eventually(t, time.Minute, fmt.Sprintf("fetch %.0f %% of the pages", 100*share), func() (bool, string) {
					n := len(web.Requests())
					return float64(n) > share*float64(len(web.pages)), fmt.Sprint(n)
				}, c.all()...)
			}
			fetched(0.3)
			before := len(web.Requests())
			copied := filepath.Join(c.dir, "backup")
			wantOutput(t, runSeine(t, "backup", "--to", copied, "--nats", c.url), "copied to")
			copiedOutput := filepath.Join(c.dir, "copy")
			c.copyOutput(copiedOutput)
			fetched(0.6)
			c.loseNATS()
			at := len(web.Requests())
			if lost {
				c.loseStates(copiedOutput)
			}
			out := runSeine(t, "restore", "--from", copied, "--nats", c.url)
			wantOutput(t, out, "restored from")
			t.Log(out.stdout.String())
			for _, p := range c.all() {
				p.start()
			}
			client := frontierapi.Client{Bus: c.bus()}
			n := c.finish(client.Bus, "many", time.Minute)
			wantPages(t, records(t, c.out(), "many"), web.pages)
			if n.Pages != int64(len(web.pages)) || n.Pending() != 0 {
				t.Errorf("%d pages counted, want %d: %+v", n.Pages, len(web.pages), n)
			}
			repeats, _ := web.repeats()
			if most := at - before + 64; repeats > most {
				t.Errorf("%d pages were fetched twice, want at most the %d that were asked for since the backup began", repeats, most)
			}
			t.Logf("%d pages; %d requests when the backup began, %d when NATS was lost, %d twice", len(web.pages), before, at, repeats)
			wantOutput(t, runSeine(t, "verify", c.out()))
		})
	}
}

// copyOutput copies the output while writers write it, as docs/guides/backup.md says: the commits
// first, because their files exist by then, and no unfinished files, which may disappear.
func (c *cluster) copyOutput(to string) {
	c.t.Helper()
	for _, commits := range []bool{true, false} {
		err := fs.WalkDir(os.DirFS(c.out()), ".", func(path string, d fs.DirEntry, err error) error {
			unfinished := strings.HasPrefix(d.Name(), ".") && strings.HasSuffix(path, ".tmp")
			if err != nil || d.IsDir() || unfinished || strings.HasPrefix(path, output.CommitsDir+"/") != commits {
				return err
			}
			text, err := os.ReadFile(filepath.Join(c.out(), path))
			copied := filepath.Join(to, path)
			return errors.Join(err, os.MkdirAll(filepath.Dir(copied), 0o755), os.WriteFile(copied, text, 0o600))
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// loseNATS kills every process and replaces the server with an empty one.
func (c *cluster) loseNATS() {
	c.t.Helper()
	for _, p := range append(c.all(), c.nats) {
		p.kill()
	}
	if err := os.RemoveAll(filepath.Join(c.dir, "nats")); err != nil {
		c.t.Fatal(err)
	}
	c.nats.start()
	awaitConnections(c.t, strings.TrimPrefix(c.url, "nats://"), c.nats)
}

// loseStates removes the states of the stages and replaces the output with a copy.
func (c *cluster) loseStates(copied string) {
	c.t.Helper()
	for _, name := range []string{"frontier", "writer0", "out"} {
		if err := os.RemoveAll(filepath.Join(c.dir, name)); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := os.Rename(copied, c.out()); err != nil {
		c.t.Fatal(err)
	}
}
