package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// versionedSite serves three pages whose title is the current version.
type versionedSite struct {
	*httptest.Server
	version atomic.Int32
}

func newVersionedSite(t *testing.T) *versionedSite {
	t.Helper()
	s := new(versionedSite)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>%d</title><a href="/a">a</a> <a href="/b">b</a>`, s.version.Load())
	}))
	t.Cleanup(s.Close)
	return s
}

// restoredCluster is a cluster that crawls a versionedSite, is lost, and is restored.
type restoredCluster struct {
	*cluster
	site *versionedSite
	want []string // "version path" of every record
}

// crawl starts the crawl, or a run of it, at the next version of the site and waits until its
// records are in the output.
func (c *restoredCluster) crawl(again bool) {
	c.t.Helper()
	version := c.site.version.Add(1)
	spec := crawlspec.Default()
	spec.Delay, spec.AllowPrivate = 0, true
	bus := c.bus()
	if again {
		spec.Again = time.Now().Unix()
		c.change(bus, &spec)
	} else {
		c.begin(bus, "shop", &spec, c.site.URL+"/")
	}
	for _, path := range []string{"/", "/a", "/b"} {
		c.want = append(c.want, fmt.Sprint(version, " ", path))
	}
	c.awaitRecords()
	c.complete(bus, "shop", time.Minute)
}

// change stores a spec.
func (c *restoredCluster) change(bus *stages.Bus, spec *crawlspec.Spec) {
	c.t.Helper()
	specs, err := stages.OpenSpecs(c.t.Context(), bus)
	if err == nil {
		_, err = specs.Put(c.t.Context(), "shop", spec)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// awaitRecords waits until the output has every wanted record.
func (c *restoredCluster) awaitRecords() {
	c.t.Helper()
	eventually(c.t, time.Minute, fmt.Sprintf("commit %d records", len(c.want)), func() (bool, string) {
		got := c.records()
		return len(got) >= len(c.want), strings.Join(got, ", ")
	}, c.all()...)
	if got := c.records(); !slices.Equal(got, slices.Sorted(slices.Values(c.want))) {
		c.t.Fatalf("the output has %q, want %q", got, c.want)
	}
}

func (c *restoredCluster) records() (all []string) {
	c.t.Helper()
	if !isDir(c.out()) {
		return nil
	}
	for _, r := range records(c.t, c.out(), "shop") {
		all = append(all, r.Title+" "+strings.TrimPrefix(r.URL, c.site.URL))
	}
	slices.Sort(all)
	return all
}

func (c *restoredCluster) delete() {
	c.t.Helper()
	wantOutput(c.t, runSeine(c.t, "delete", "shop", "--yes", "--wait", "30s", "--nats", c.url), "delet")
}

// restore discards NATS with everything after the backup, and continues from the backup.
func (c *restoredCluster) restore(backup string) {
	c.t.Helper()
	c.loseNATS()
	wantOutput(c.t, runSeine(c.t, "restore", "--from", backup, "--nats", c.url), "restored from")
	for _, p := range c.all() {
		p.start()
	}
	client := frontierapi.Client{Bus: c.bus()}
	eventually(c.t, time.Minute, "take over the partitions", func() (bool, string) {
		_, _, err := client.CheckEnded(c.t.Context(), "shop", new(crawlspec.Spec))
		return err == nil, fmt.Sprint(err)
	}, c.all()...)
}

// Visits after a restore are in the output, whatever was visited in the time that the restore
// undid: runs, a crawl with the name of a deleted one, or a new crawl. This also holds after a
// second restore of the same backup.
func TestVisitsAfterARestoreAreInTheOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before bool // the crawl was started before the backup
		visit  func(c *restoredCluster)
	}{
		"a run":                         {true, func(c *restoredCluster) { c.crawl(true) }},
		"a crawl of a deleted name":     {true, func(c *restoredCluster) { c.delete(); c.crawl(false) }},
		"a crawl and a run that is new": {false, func(c *restoredCluster) { c.crawl(false); c.crawl(true) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &restoredCluster{newCluster(t, shape{frontierArgs: []string{"--snapshot-every", "1s"}, writerAge: "200ms"}), newVersionedSite(t), nil}
			if c.before {
				r.crawl(false)
			}
			r.bus() // waits for the streams
			backup := filepath.Join(r.dir, "backup")
			wantOutput(t, runSeine(t, "backup", "--to", backup, "--nats", r.url), "copied to")
			c.visit(r)
			for range 2 {
				r.restore(backup)
				c.visit(r)
			}
		})
	}
}
