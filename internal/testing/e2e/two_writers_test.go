package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"seine/internal/output/bucket"
	"seine/internal/testing/outputtest"
	"seine/internal/testing/pgserver"
	"seine/internal/testing/s3server"
	"seine/internal/testing/testweb"
	"seine/pkg/stages/writer"
)

// Two writers of one crawl run at their own speeds: one writes files to S3, the other rows to
// PostgreSQL, and is down for most of the crawl. Both end with every page.
func TestTwoWritersOfOneCrawlBothEndComplete(t *testing.T) {
	s3server.SetCredentials()
	pgserver.SetEnvironment()
	site, web := testSite(t, testweb.Config{PagesPerHost: 600, Latency: 5 * time.Millisecond})
	s3, pg := s3server.Start(t), pgserver.Start(t)
	c := newCluster(t, shape{writers: 1})
	bus := c.bus()
	stage := func(name, out string, more ...string) *process {
		return start(t, "writer", append([]string{
			"--nats", c.url, "--listen", "127.0.0.1:0", "--name", name, "--out", out,
			"--state", filepath.Join(c.dir, name), "--chunk-age", "1s",
		}, more...)...)
	}
	out, dsn := s3.Out(), pg.DSN(pg.Database())
	files := stage("files", out, "--s3-endpoint", s3.Endpoint(), "--s3-path-style")
	rows := stage("rows", dsn)
	c.begin(bus, "two", quick(), site.seed)
	eventually(t, time.Minute, "serve some pages", func() (bool, string) { return len(web.Requests()) > 100, "" })
	rows.kill()
	eventually(t, time.Minute, "serve nearly all pages", func() (bool, string) { return len(web.Requests()) > 550, "" })
	rows.start()
	n := c.finish(bus, "two", 2*time.Minute)
	for _, w := range []struct {
		p       *process
		name    string
		out     string
		options bucket.Options
	}{
		{files, "files", out, bucket.Options{Endpoint: s3.Endpoint(), PathStyle: true}},
		{rows, "rows", dsn, bucket.Options{}},
	} {
		committed, err := writer.OpenOutput(w.out, w.name, w.options)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, time.Minute, "commit every record", func() (bool, string) {
			all, err := committed.All()
			records := 0
			for i := range all {
				records += all[i].Records()
			}
			return err == nil && int64(records) == n.Pages, fmt.Sprintf("%d of %d records, %v", records, n.Pages, err)
		}, w.p)
		w.p.drain()
		if err := errors.Join(outputtest.Verify(committed), committed.Close()); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
	}
}
