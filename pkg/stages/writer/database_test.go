package writer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"

	"seine/internal/output"
	"seine/internal/output/sqlite"
	"seine/internal/testing/await"
	"seine/internal/testing/outputtest"
	"seine/internal/testing/pgserver"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// onSQLite returns a configuration whose output is a SQLite file.
func onSQLite(t testing.TB) Config {
	c := testConfig(t)
	c.Out = sqlite.Scheme + filepath.Join(t.TempDir(), "crawl.db")
	return c
}

// onPostgres returns a configuration whose output is in its own database.
func onPostgres(t testing.TB, s *pgserver.Server) Config {
	c := testConfig(t)
	c.Out = s.DSN(s.Database())
	return c
}

// ask returns the number that a query of the output of cfg gives.
func ask(t testing.TB, cfg Config, query string) (n int) {
	t.Helper()
	if sqlite.Is(cfg.Out) {
		db, err := sql.Open("sqlite", sqlite.File(cfg.Out))
		check(t, err)
		defer db.Close()
		check(t, db.QueryRow(query).Scan(&n))
		return n
	}
	ctx := context.Background()
	db, err := pgx.Connect(ctx, cfg.Out)
	check(t, err)
	defer db.Close(ctx)
	_, err = db.Exec(ctx, `SET search_path TO seine`)
	check(t, err)
	check(t, db.QueryRow(ctx, query).Scan(&n))
	return n
}

// wantSound checks that the events and rows are exactly those of the log.
func wantSound(t testing.TB, cfg Config) {
	t.Helper()
	commits, err := cfg.ReadCommits()
	check(t, err)
	total := 0
	for _, c := range commits {
		total += c.Records()
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM commits`:                                                                               len(commits),
		`SELECT coalesce(sum(records), 0) FROM commits`:                                                              total,
		`SELECT count(*) FROM events`:                                                                                total,
		`SELECT count(*) FROM (SELECT DISTINCT id FROM events) x`:                                                    total,
		`SELECT count(*) FROM events WHERE commit_id NOT IN (SELECT id FROM commits)`:                                0,
		`SELECT count(*) FROM pages WHERE commit_id NOT IN (SELECT id FROM commits)`:                                 0,
		`SELECT count(*) FROM (SELECT item FROM events EXCEPT SELECT id FROM pages EXCEPT SELECT id FROM records) x`: 0,
		`SELECT (SELECT count(*) FROM pages) + (SELECT count(*) FROM records)`:                                       ask(t, cfg, `SELECT count(DISTINCT item) FROM events`),
		`SELECT coalesce(sum(pages), 0) FROM sources`:                                                                ask(t, cfg, `SELECT count(*) FROM pages WHERE host IS NOT NULL`),
	} {
		if got := ask(t, cfg, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

// wantIntegrity is wantExactly, and also checks the file with the sqlite3 shell, which is another
// build of SQLite.
func wantIntegrity(t testing.TB, cfg Config, want map[string]int) {
	t.Helper()
	wantExactly(t, cfg, want)
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Error("no sqlite3: scripts/postgres installs it")
		}
		return
	}
	out, err := exec.Command(shell, sqlite.File(cfg.Out), "PRAGMA integrity_check; SELECT count(*) FROM events;").CombinedOutput()
	says := fmt.Sprintf("ok\n%d\n", ask(t, cfg, `SELECT count(*) FROM events`))
	if err != nil || string(out) != says {
		t.Errorf("sqlite3 says %q, %v, want %q", out, err, says)
	}
}

// A re-created stream has the same message identities again. They are other events of the same
// rows.
func TestDatabaseStreamMadeAnew(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { databaseStreamMadeAnew(t, onSQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { databaseStreamMadeAnew(t, onPostgres(t, pgserver.Start(t))) })
}

func databaseStreamMadeAnew(t *testing.T, cfg Config) {
	bus := startBus(t, false)
	for life := range 2 {
		if life > 0 {
			check(t, bus.JS.DeleteStream(t.Context(), messages.StreamRecords))
			check(t, bus.Provision(t.Context(), partitions, messages.DefaultStreamLimits(), 1))
		}
		publish(t, bus, "a", 0, 100+life)
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		again := start(t, bus, cfg) // it knows its last position
		again.catchUp()
		again.end()
		if got := again.Totals(); got != (Totals{}) {
			t.Errorf("it read again what was committed: %+v", got)
		}
		if got, want := ask(t, cfg, `SELECT count(*) FROM events`), (life+1)*100+life; got != want {
			t.Errorf("%d events, want %d", got, want)
		}
		if got, want := ask(t, cfg, `SELECT (SELECT count(*) FROM pages) + (SELECT count(*) FROM records)`), 100+life; got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
		check(t, outputtest.Verify(outputOf(t, cfg)))
	}
}

// Records and request results go to one database, with a writer for each.
func TestDatabaseOfRecordsAndResults(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { recordsAndResults(t, onSQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { recordsAndResults(t, onPostgres(t, pgserver.Start(t))) })
}

func recordsAndResults(t *testing.T, cfg Config) {
	bus := startBus(t, false)
	publish(t, bus, "a", 0, 200)
	var all []*nats.Msg
	for n := range 100 {
		r := messages.Result{
			Crawl: "a", URL: fmt.Sprintf("https://a.example/%d", n), Attempt: 1, Class: messages.ServerError, Status: 503, Started: time.Now(),
			Visit: messages.Visit{URL: messages.HashURL(fmt.Sprintf("https://a.example/%d", n)), Round: 1},
		}
		m := nats.NewMsg(messages.SubjectResults("a", n%partitions))
		m.Header.Set(nats.MsgIdHdr, r.ID())
		m.Data = r.Encode()
		all = append(all, m)
	}
	check(t, stages.NewPublisher(bus, "test").Publish(t.Context(), all...))
	results := cfg
	results.From, results.Name, results.State = "results", "outcomes", t.TempDir()
	for _, c := range []Config{cfg, results} {
		w := start(t, bus, c)
		defer w.stop()
		w.catchUp()
		w.end()
		check(t, outputtest.Verify(outputOf(t, c)))
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM events WHERE class IS NULL`:                           200,
		`SELECT count(*) FROM events WHERE class = 'server_error' AND status = 503`: 100,
		`SELECT count(*) FROM pages`:                                                100,
		`SELECT count(*) FROM records`:                                              100,
		`SELECT count(*) FROM writers`:                                              2,
	} {
		if got := ask(t, cfg, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

func TestDatabaseConfig(t *testing.T) {
	t.Parallel()
	const dsn = "postgres://me:hidden@127.0.0.1/x"
	for want, change := range map[string]func(*Config){
		"--format jsonl: is for files":     func(c *Config) { c.Format = "jsonl" },
		"--path {crawl}: is for files":     func(c *Config) { c.Path = "{crawl}" },
		"--key {id}.json: is for files":    func(c *Config) { c.Key = "{id}.json" },
		"--encrypt: is for files":          func(c *Config) { c.Encrypt = []string{"age1x"} },
		"--s3-…":                           func(c *Config) { c.S3.Region = "x" },
		"--from pages: a database takes":   func(c *Config) { c.From = "pages" },
		"--out postgres://…: cannot be re": func(c *Config) { c.Out = "postgres://me:hidden@h:port/x" },
		`--out "sqlite:": must be`:         func(c *Config) { c.Out = "sqlite:" },
	} {
		c := DefaultConfig()
		c.Out = dsn
		check(t, c.Validate())
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", want, err)
		}
	}
	for out, want := range map[string]crawlspec.Bytes{"./x": 64 << 20, "sqlite:x": rowBytes, dsn: rowBytes} {
		c := DefaultConfig()
		c.Out = out
		if d := c.withDefaults(); d.ChunkBytes != want {
			t.Errorf("--chunk-bytes for %s: %s, want %s", out, d.ChunkBytes, want)
		}
	}
}

// Two streams can be created in the same second, and their crawls can write into one database at
// the same time. A commit that finds its name taken uses another name, while the writer runs and
// when it ends. Nothing is lost or duplicated.
func TestNameThatAnotherStreamHasTaken(t *testing.T) {
	t.Parallel()
	try := func(t *testing.T, output func() Config) {
		for name, commit := range map[string]func(*running){
			"while it runs": func(w *running) {
				await.Eventually(t, "commit all", func() bool {
					w.Flush()
					return w.Totals().Records == 20 || w.Err() != nil
				})
			},
			"at its end": func(*running) {},
		} {
			t.Run(name, func(t *testing.T) {
				cfg := output()
				cfg.ChunkAge = crawlspec.Duration(4 * time.Minute)
				bus := startBus(t, false)
				publish(t, bus, "a", 0, 1) // is message 1
				publish(t, bus, "a", 1, 20)
				w := start(t, bus, cfg)
				w.catchUp()
				takeName(t, bus, cfg)
				commit(w)
				err := w.Err()
				w.end()
				if err = errors.Join(err, w.Err()); err != nil {
					t.Errorf("a person was to mend: %v", err)
				}
				wantExactly(t, cfg, map[string]int{"a": 20})
			})
		}
	}
	t.Run("SQLite", func(t *testing.T) { try(t, func() Config { return onSQLite(t) }) })
	t.Run("PostgreSQL", func(t *testing.T) {
		server := pgserver.Start(t)
		try(t, func() Config { return onPostgres(t, server) })
	})
}

// takeName commits the first entry of partition 0 as another stream of the same second would.
func takeName(t *testing.T, bus *stages.Bus, cfg Config) {
	t.Helper()
	st, err := bus.JS.Stream(t.Context(), messages.StreamRecords)
	check(t, err)
	created := st.CachedInfo().Created.Truncate(time.Second)
	sink, err := openSink(&cfg, quiet(), nil)
	check(t, err)
	p, _, err := sink.OpenPartition(0, created)
	check(t, err)
	_, err = p.Commit(&output.Commit{Partition: 0, Created: created, FirstSeq: 1, LastSeq: 1, Stored: created})
	check(t, errors.Join(err, p.Close(), closeSink(sink)))
}
