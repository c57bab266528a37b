package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
	"seine/internal/testing/pgserver"
	"seine/internal/testing/sqlsinktest"
	"seine/pkg/messages"
)

func TestMain(m *testing.M) {
	pgserver.SetEnvironment()
	goleak.VerifyTestMain(m)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// place returns the schema "seine" of a database.
func place(t testing.TB, dsn string) sqlsinktest.Fixture {
	with := func(do func(context.Context, *pgx.Conn) error) {
		t.Helper()
		ctx := context.Background()
		c, err := pgx.Connect(ctx, dsn)
		check(t, err)
		_, err = c.Exec(ctx, `SET search_path TO seine`)
		check(t, errors.Join(err, do(ctx, c), c.Close(ctx)))
	}
	return sqlsinktest.Fixture{
		Open: func(name, from string) (*sqlsink.Sink, error) {
			return Open(dsn, name, from, slog.New(slog.DiscardHandler), nil)
		},
		Read: func(name string) (output.Log, error) { return Read(dsn, name) },
		Runs: func(runs ...sqlsink.Run) error { return SetRuns(context.Background(), dsn, runs) },
		Ask: func(query string) (value string) {
			t.Helper()
			with(func(ctx context.Context, c *pgx.Conn) error {
				return c.QueryRow(ctx, `SELECT (`+query+`)::text`).Scan(&value)
			})
			return value
		},
		List: `SELECT coalesce(json_agg(line), '[]') FROM (%s) AS lines`,
		Exec: func(statement string) {
			t.Helper()
			with(func(ctx context.Context, c *pgx.Conn) error { _, err := c.Exec(ctx, statement); return err })
		},
	}
}

func TestDatabase(t *testing.T) {
	s := pgserver.Start(t)
	sqlsinktest.Run(t, func(t *testing.T) sqlsinktest.Fixture { return place(t, s.DSN(s.Database())) })
}

// A migrated table keeps the rows of the previous version, and has the new version's additions.
func TestMigrateFromTheVersionBefore(t *testing.T) {
	server := pgserver.Start(t)
	p := place(t, server.DSN(server.Database()))
	all := migrations
	t.Cleanup(func() { migrations = all })
	at := sqlsinktest.Created
	for v := len(all); v <= len(all)+1; v++ {
		if migrations = all; v > len(all) {
			migrations = append(all[:len(all):len(all)], sqlsink.Migration{Version: v, SQL: `CREATE INDEX added ON pages (depth)`})
		}
		s, err := p.Open("default", sqlsink.FromRecords)
		check(t, err)
		check(t, sqlsinktest.Enter(t, s, at).Commit(at, uint64(v), sqlsinktest.Page(fmt.Sprintf("https://a.example/%d", v), 1, at, "old")))
		check(t, s.Close())
	}
	for query, want := range map[string]string{
		`SELECT version FROM seine_schema`: fmt.Sprint(len(all) + 1), `SELECT count(*) FROM seine_schema`: "1", `SELECT count(*) FROM pages`: "2",
		`SELECT count(*) FROM pg_indexes WHERE schemaname = 'seine' AND indexname = 'added'`: "1",
	} {
		if got := p.Ask(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	migrations = all // a build without the last migration must not change the tables
	for name, open := range map[string]func() error{
		"open": func() error { _, err := p.Open("default", sqlsink.FromRecords); return err },
		"read": func() error { _, err := p.Read("default"); return err },
	} {
		if err := open(); !errors.Is(err, sqlsink.ErrNewer) {
			t.Errorf("%s: %v, want %v", name, err, sqlsink.ErrNewer)
		}
	}
	// A failed migration leaves the previous version.
	migrations = append(all[:len(all):len(all)], sqlsink.Migration{Version: len(all) + 1, SQL: `SELECT 1`}, sqlsink.Migration{Version: len(all) + 2, SQL: `CREATE TABLE new (a int); INSERT INTO nowhere VALUES (1)`})
	if _, err := p.Open("default", sqlsink.FromRecords); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
	if got := p.Ask(`SELECT to_regclass('new') IS NULL AND version = ` + fmt.Sprint(len(all)+1) + ` FROM seine_schema`); got != "true" {
		t.Errorf("a failed migration left something: %s", got)
	}
}

// Several writers that start at once agree on which of them creates the tables.
func TestStartTogether(t *testing.T) {
	server := pgserver.Start(t)
	dsn := server.DSN(server.Database())
	done := make(chan error)
	for range 8 {
		go func() {
			s, err := Open(dsn, "default", sqlsink.FromRecords, slog.New(slog.DiscardHandler), nil)
			if err == nil {
				err = s.Close()
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Faults that a person must fix are reported with a hint, and without the password.
func TestRefusals(t *testing.T) {
	server := pgserver.Start(t)
	db := server.Database()
	server.Exec(db, `CREATE ROLE weak LOGIN PASSWORD 'weak-secret'`)
	server.Exec(db, `CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0`)
	weak := strings.Replace(server.DSN(db), pgserver.User+":"+pgserver.Password, "weak:weak-secret", 1)
	refused := func(dsn string, wants ...string) {
		t.Helper()
		_, err := Open(dsn, "default", sqlsink.FromRecords, slog.New(slog.DiscardHandler), nil)
		for _, want := range append(wants, "--out postgres://") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\t") {
			t.Errorf("%q has several lines", err)
		}
		for _, secret := range []string{pgserver.Password, "weak-secret", "not-the-secret"} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the password is in %q", err)
			}
		}
	}
	refused(strings.Replace(server.DSN(db), pgserver.Password, "not-the-secret", 1), "refuses the password", server.Addr+"/"+db)
	refused(server.DSN("nowhere"), "no such database")
	refused(server.DSN("latin"), "LATIN1", "UTF8")
	refused(weak, "lacks a right")
	check(t, openAndClose(server.DSN(db)))
	refused(weak, "lacks a right") // on the schema
	server.Exec(db, `GRANT USAGE ON SCHEMA seine TO weak; GRANT SELECT ON ALL TABLES IN SCHEMA seine TO weak`)
	refused(weak, "commits: INSERT", "GRANT")
	server.Exec(db, `GRANT INSERT, UPDATE ON ALL TABLES IN SCHEMA seine TO weak`)
	refused(weak, "records: DELETE", "GRANT")
	server.Exec(db, `GRANT DELETE ON seine.records TO weak`)
	check(t, openAndClose(weak)) // without a right to change the tables
	server.Kill()
	refused(server.DSN(db), "cannot be reached: dial tcp "+server.Addr+": connect: connection refused")
	if err := openAndClose(server.DSN(db)); !errors.Is(err, output.ErrAway) || strings.Count(err.Error(), "refused") != 1 {
		t.Errorf("of a server that is away: %v", err)
	}
}

func openAndClose(dsn string) error {
	s, err := Open(dsn, "default", sqlsink.FromRecords, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return err
	}
	return s.Close()
}

// The tables are in the schema of the search path.
func TestSearchPath(t *testing.T) {
	server := pgserver.Start(t)
	db := server.Database()
	check(t, openAndClose(server.DSN(db)+"?search_path=my_crawls"))
	check(t, openAndClose(server.DSN(db)+"?options=-csearch_path%3Dpublic"))
	check(t, openAndClose(server.DSN(db)))
	p := place(t, server.DSN(db))
	check(t, openAndClose(server.DSN(db)+"?search_path=%22My-Crawls%22"))
	for _, out := range []string{server.DSN(db), server.DSN(db) + "?search_path=my_crawls", server.DSN(db) + "?search_path=%22My-Crawls%22"} {
		if table := Table(out, "commits"); p.Ask("SELECT count(*)::text FROM "+table) != "0" {
			t.Errorf("%s cannot be asked", table)
		}
	}
	if got := p.Ask(`SELECT string_agg(schemaname, ' ' ORDER BY schemaname) FROM pg_tables WHERE tablename = 'commits'`); got != "My-Crawls my_crawls public seine" {
		t.Errorf("tables are in %s", got)
	}
}

// Credentials need not be in --out, where everyone on the machine can read them.
func TestCredentialsElsewhere(t *testing.T) {
	server := pgserver.Start(t)
	db := server.Database()
	bare := "postgres://" + pgserver.User + "@" + server.Addr + "/" + db
	t.Setenv("PGPASSWORD", pgserver.Password)
	check(t, openAndClose(bare))
	t.Setenv("PGPASSWORD", "")
	host, port, _ := strings.Cut(server.Addr, ":")
	file := filepath.Join(t.TempDir(), "pass")
	check(t, os.WriteFile(file, []byte(strings.Join([]string{host, port, "*", pgserver.User, pgserver.Password}, ":")), 0o600))
	t.Setenv("PGPASSFILE", file)
	check(t, openAndClose(bare))
	service := filepath.Join(t.TempDir(), "service")
	check(t, os.WriteFile(service, fmt.Appendf(nil, "[crawls]\nhost=%s\nport=%s\nuser=%s\ndbname=%s\n", host, port, pgserver.User, db), 0o600))
	t.Setenv("PGSERVICEFILE", service)
	check(t, openAndClose("postgres://?service=crawls"))
}

func TestRedact(t *testing.T) {
	for out, want := range map[string]string{
		"postgres://me:secret@db.example/crawls":                        "postgres://me@db.example/crawls",
		"postgresql://me:secret@db.example:5433/crawls?sslmode=disable": "postgres://me@db.example:5433/crawls",
		"postgres://me@db.example/crawls?password=secret":               "postgres://me@db.example/crawls",
		"postgres://me@[::1]/crawls?search_path=other":                  "postgres://me@[::1]/crawls?search_path=other",
		"postgres:///crawls?host=/run/postgresql&user=me":               "postgres://me@/crawls?host=%2Frun%2Fpostgresql",
		"postgres://me:se%40cret@db.example/crawls":                     "postgres://me@db.example/crawls",
		"postgres://me:12/secret@db.example/crawls":                     hidden,
		"postgres://me:secret@db.example:port/crawls":                   hidden,
		"postgres://me:a@secret,b@db.example/crawls":                    hidden,
		"postgres://me:a@b,secret@db.example/crawls":                    hidden,
		"postgres://me:secret@db.example,other.example/crawls":          "postgres://me@db.example/crawls",
		"postgres://me@db.example/crawls?sslmode=secret":                hidden,
		"postgres://me@db.example/crawls?pool_max_conns=secret":         hidden,
	} {
		if got := Redact(out); got != want {
			t.Errorf("%s: %s, want %s", out, got, want)
		}
		if err := Validate(out); err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", out, err)
		}
	}
}

// FuzzRedact searches for a DSN whose password is revealed.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{"me", "/", "#", "?", "@", "%", ":", "\\", "[", "x@y/z", "1/2"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "zQ7pW0"
		for _, out := range []string{
			"postgres://me:" + before + secret + after + "@db.example/crawls",
			"postgres://me:" + url.QueryEscape(before+secret+after) + "@db.example/crawls",
			"postgres://me@db.example/crawls?password=" + before + secret + after,
		} {
			if s := Redact(out) + fmt.Sprint(Validate(out)); strings.Contains(s, secret) {
				t.Errorf("%q is told as %s", out, s)
			}
		}
	})
}

// PostgreSQL accepts the result of storable.
func TestStorable(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"b\u0000c\\u0000"}`:                  "{\"a\":\"b\uFFFDc\\\\u0000\"}",
		`"\ud83d\ude00\ud83d \udc00\ud83dx\uD83D"`: "\"\U0001F600\uFFFD \uFFFD\uFFFDx\uFFFD\"",
		`{"n":1e400,"m":-1.5E-12}`:                 `{"n":1e400,"m":-1.5E-12}`,
		`[1e1000]`:                                 `"[1e1000]"`,
		"\"caf\xe9\"":                              "\"caf\uFFFD\"",
		`"plain \n \u00e9"`:                        `"plain \n é"`,
	} {
		if got := string(storable([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// FuzzStorable checks with a real server whether it accepts converted JSON.
func FuzzStorable(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,null]}`, `"\u0000\ud800\\"`, `1e999999`, strings.Repeat(`[`, 600) + strings.Repeat(`]`, 600), `{"\u0000":1,"\u0000":2}`} {
		f.Add([]byte(s))
	}
	server := pgserver.Start(f)
	ctx := context.Background()
	c, err := pgx.Connect(ctx, server.DSN("postgres"))
	check(f, err)
	f.Cleanup(func() { _ = c.Close(ctx) })
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil {
			return
		}
		if _, err := c.Exec(ctx, `SELECT $1::jsonb`, storable(data)); err != nil {
			t.Errorf("%q: %v", data, err)
		}
	})
}

// The diagram in the documentation has all tables, and its examples work.
func TestDocumentedTables(t *testing.T) {
	server := pgserver.Start(t)
	p := place(t, server.DSN(server.Database()))
	s, err := p.Open("default", sqlsink.FromRecords)
	check(t, err)
	product := sqlsink.Format{Columns: func(string, string, uint64) ([]format.Column, error) {
		return []format.Column{{Name: "sku"}, {Name: "price", Type: format.Number}}, nil
	}}
	at := sqlsinktest.Created
	check(t, sqlsinktest.Enter(t, s, at).CommitAs(product, at, 1, &format.Record{ID: "x", Kind: "product", Stored: at, Data: []byte("{}")}))
	check(t, s.Close())
	docs := sqlsinktest.ReadDocumented(t)
	short := strings.NewReplacer("integer", "int", "timestamp with time zone", "timestamptz")
	for table, want := range docs.Tables {
		has := p.Ask(`SELECT string_agg(attname || ' ' || format_type(atttypid, NULL), ', ' ORDER BY attnum) FROM pg_attribute
			WHERE attrelid = 'seine.` + table + `'::regclass AND attnum > 0 AND NOT attisdropped`)
		if got := short.Replace(has); got != strings.Join(want, ", ") {
			t.Errorf("%s has %s\nthe picture %s", table, got, strings.Join(want, ", "))
		}
	}
	want := fmt.Sprint(len(docs.Tables) + 1) // seine_schema
	if got := p.Ask(`SELECT count(*) FROM pg_tables WHERE schemaname = 'seine'`); got != want {
		t.Errorf("%s tables, want %s", got, want)
	}
	for _, query := range docs.Queries {
		p.Exec(query)
	}
}

// Added columns keep a view, with its rights and the views that depend on it. A column that changes
// its type cannot be applied then: records are written nevertheless.
func TestViewsOfViews(t *testing.T) {
	server := pgserver.Start(t)
	dsn := server.DSN(server.Database())
	p := place(t, dsn)
	var log bytes.Buffer
	s, err := Open(dsn, "default", sqlsink.FromRecords, slog.New(slog.NewTextHandler(&log, nil)), nil)
	check(t, err)
	defer func() { check(t, s.Close()) }()
	var columns []format.Column
	f := sqlsink.Format{Columns: func(string, string, uint64) ([]format.Column, error) { return columns, nil }}
	stay := sqlsinktest.Enter(t, s, sqlsinktest.Created)
	put := func(first uint64) {
		t.Helper()
		r := &format.Record{ID: fmt.Sprint("a.", first), Kind: "product", Stored: sqlsinktest.Created, Header: nats.Header{messages.HeaderSpec: {fmt.Sprint(first)}}, Data: []byte(`{"price":1,"colour":"red"}`)}
		check(t, stay.CommitAs(f, sqlsinktest.Created, first, r))
	}
	columns = []format.Column{{Name: "price", Type: format.Number}}
	put(1)
	p.Exec(`GRANT SELECT ON records_product TO public`)
	p.Exec(`CREATE VIEW cheap AS SELECT * FROM records_product WHERE price < 2`)
	columns = append(columns, format.Column{Name: "colour"})
	put(2)
	if got := p.Ask(`SELECT has_table_privilege('public', 'records_product', 'SELECT')::text || count(colour) FROM records_product`); got != "true2" {
		t.Errorf("right and colours are %s", got)
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", &log)
	}
	columns = []format.Column{{Name: "price"}}
	put(3)
	put(4)
	if got := p.Ask(`SELECT count(*) FROM cheap`); got != "4" {
		t.Errorf("%s rows, want 4", got)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "view=records_product") || !strings.Contains(got, "drop those") {
		t.Errorf("logged %s", got)
	}
}

// A transaction that reads a view does not delay writes, and other readers do not wait for it. The
// view is created later.
func TestOpenTransactionOnAViewHoldsUpNoRecord(t *testing.T) {
	server := pgserver.Start(t)
	dsn := server.DSN(server.Database())
	p := place(t, dsn)
	s, err := Open(dsn, "default", sqlsink.FromRecords, slog.New(slog.DiscardHandler), nil)
	check(t, err)
	columns := []format.Column{{Name: "price", Type: format.Number}}
	f := sqlsink.Format{Columns: func(string, string, uint64) ([]format.Column, error) { return columns, nil }}
	stay := sqlsinktest.Enter(t, s, sqlsinktest.Created)
	put := func(first uint64) {
		t.Helper()
		r := &format.Record{ID: fmt.Sprint("a.", first), Kind: "product", Stored: sqlsinktest.Created, Data: []byte(`{"price":1,"colour":"red"}`)}
		check(t, stay.CommitAs(f, sqlsinktest.Created, first, r))
	}
	put(1)
	reader, err := pgx.Connect(t.Context(), dsn)
	check(t, err)
	_, err = reader.Exec(t.Context(), `BEGIN; SELECT count(*) FROM seine.records_product`)
	check(t, err)
	columns = append(columns, format.Column{Name: "colour"})
	put(2)
	if got := p.Ask(`SELECT count(*) FROM records_product`); got != "2" {
		t.Errorf("%s rows, want 2", got)
	}
	if got := s.Waiting(); !strings.HasPrefix(got, "records_product: ") || !strings.Contains(got, "lock") {
		t.Errorf("waiting: %q", got)
	}
	check(t, errors.Join(reader.Close(t.Context()), s.Close()))
	s, err = Open(dsn, "default", sqlsink.FromRecords, slog.New(slog.DiscardHandler), nil)
	check(t, err)
	stay = sqlsinktest.Enter(t, s, sqlsinktest.Created)
	put(3)
	if got := p.Ask(`SELECT count(colour) FROM records_product`); got != "3" {
		t.Errorf("%s colours, want 3", got)
	}
	if got := s.Waiting(); got != "" {
		t.Errorf("waiting: %q", got)
	}
	check(t, s.Close())
}
