package e2e

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"seine/internal/run/crawl"
	"seine/internal/testing/pgserver"
	"seine/internal/testing/testweb"
)

// A crawl into a database is stored once, however often it runs, and can be read back.
func TestCrawlIntoADatabase(t *testing.T) {
	pgserver.SetEnvironment()
	t.Run("SQLite", func(t *testing.T) {
		p := newWorkspace(t)
		p.out = "sqlite:" + p.out + ".db"
		crawlIntoADatabase(t, p, p.out, func(query string) int64 { return askSQLite(t, strings.TrimPrefix(p.out, "sqlite:"), query) })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		server := pgserver.Start(t)
		p := newWorkspace(t)
		p.out = server.DSN(server.Database())
		crawlIntoADatabase(t, p, strings.Replace(p.out, ":"+pgserver.Password, "", 1), func(query string) (n int64) {
			c, err := pgx.Connect(t.Context(), p.out)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Exec(t.Context(), "SET search_path TO seine")
			if err := errors.Join(err, c.QueryRow(t.Context(), query).Scan(&n), c.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
			return n
		})
	})
}

// askSQLite returns the number that a query on a file returns.
func askSQLite(t *testing.T, file, query string) (n int64) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.QueryRow(query).Scan(&n), db.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

func crawlIntoADatabase(t *testing.T, p workspace, told string, ask func(query string) int64) {
	site, _ := testSite(t, testweb.Config{PagesPerHost: 50})
	for range 2 {
		c := p.crawl(site.seed, "--log-requests", p.out)
		c.expect(0)
		s := c.summary()
		n := int64(len(site.pages))
		if s.Outcome != crawl.OutcomeComplete || s.Records != n || s.Rows["page"] != n || len(s.Files) != 0 || s.Out != told {
			t.Errorf("summary: %+v", s)
		}
		if got := ask("SELECT count(*) FROM " + s.Tables["page"]); got != n {
			t.Errorf("%d rows in %s, want %d", got, s.Tables["page"], n)
		}
		requests := int64(0)
		for _, count := range s.Requests {
			requests += count
		}
		if l := s.RequestLog; l == nil || l.Requests != requests || l.Out != told || len(l.Files) != 0 {
			t.Errorf("the summary says of the log of %d requests: %+v", requests, l)
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
	const run = `SELECT pages FROM runs WHERE crawl = 'default' AND run = 0 AND ended IS NOT NULL AND new = pages`
	if got := ask(run); got != int64(len(site.pages)) {
		t.Errorf("the run has %d pages, want %d", got, len(site.pages))
	}
	other := filepath.Join(p.data, "other.db")
	seine(t, "", "runs", "--data", p.data, "--to", "sqlite:"+other).expect(0)
	if got := askSQLite(t, other, run); got != int64(len(site.pages)) {
		t.Errorf("elsewhere the run has %d pages, want %d", got, len(site.pages))
	}
	wrong := p.crawl(site.seed, "--format", "jsonl", "--change-output")
	wrong.expect(2)
	wrong.complains("--format jsonl", told)
}

// If the database is down when the last records are to be committed, the command says that nothing
// is lost. The same command writes them later.
func TestCrawlGoesOnWhenItsDatabaseIsBack(t *testing.T) {
	pgserver.SetEnvironment()
	server := pgserver.Start(t)
	site, web := testSite(t, testweb.Config{PagesPerHost: 3})
	g := newGate(t, web, "/gate")
	p := newWorkspace(t)
	p.out = server.DSN(server.Database())
	run := p.crawl(strings.TrimSuffix(site.seed, "/")+"/gate", "--max-pages", "1")
	g.wait(t)
	server.Kill()
	g.open()
	run.expect(1)
	run.complains("(nothing is lost; fix the cause and run the same command again")
	server.Start()
	again := p.crawl("--max-pages", "1")
	again.expect(0)
	if s := again.summary(); s.Records != 1 {
		t.Errorf("%d records are written in the end; %s", s.Records, again.said())
	}
}
