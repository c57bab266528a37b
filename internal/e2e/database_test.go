package e2e

import (
	"strings"
	"testing"

	"seine/internal/crawl"
	"seine/internal/pgserver"
	"seine/internal/testweb"
)

// A crawl goes into a database, is there once however often it is run, and comes out
// again.
func TestCrawlIntoADatabase(t *testing.T) {
	pgserver.SetEnvironment()
	t.Run("SQLite", func(t *testing.T) {
		p := newPlace(t)
		p.out = "sqlite:" + p.out + ".db"
		crawlIntoADatabase(t, p, p.out)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		server := pgserver.Start(t)
		p := newPlace(t)
		p.out = server.DSN(server.Database())
		crawlIntoADatabase(t, p, strings.Replace(p.out, ":"+pgserver.Password, "", 1))
	})
}

func crawlIntoADatabase(t *testing.T, p place, told string) {
	site, _ := testSite(t, testweb.Config{PagesPerHost: 50})
	for range 2 {
		c := p.crawl(site.seed)
		c.expect(0)
		s := c.summary()
		n := int64(len(site.pages))
		if s.Outcome != crawl.OutcomeComplete || s.Records != n || s.Rows["page"] != n || len(s.Files) != 0 || s.Out != told {
			t.Errorf("summary: %+v", s)
		}
		if strings.Contains(c.said(), pgserver.Password) {
			t.Errorf("the password is in what it says: %s", c.said())
		}
	}
	cat := seine(t, "", "cat", p.out)
	cat.expect(0)
	if got := strings.Count(cat.stdout.String(), "\n"); got != len(site.pages) {
		t.Errorf("seine cat prints %d records, want %d", got, len(site.pages))
	}
	wrong := p.crawl(site.seed, "--format", "jsonl")
	wrong.expect(2)
	wrong.complains("--format jsonl", told)
}
