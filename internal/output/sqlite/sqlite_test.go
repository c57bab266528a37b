package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
	"seine/internal/testing/sqlsinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newPlace(t *testing.T) sqlsinktest.Fixture {
	dir := filepath.Join(t.TempDir(), "a b")
	check(t, os.Mkdir(dir, 0o755))
	return place(t, filepath.Join(dir, "c?d#e%41.db"))
}

func place(t testing.TB, file string) sqlsinktest.Fixture {
	with := func(do func(*sql.DB) error) {
		t.Helper()
		d, err := connect(file, "rwc")
		check(t, err)
		check(t, errors.Join(do(d.DB), d.Close()))
	}
	return sqlsinktest.Fixture{
		Real: true,
		Open: func(name, from string) (*sqlsink.Sink, error) {
			return Open(Scheme+file, name, from, slog.New(slog.DiscardHandler), nil)
		},
		Read: func(name string) (output.Log, error) { return Read(Scheme+file, name) },
		Runs: func(runs ...sqlsink.Run) error { return SetRuns(context.Background(), Scheme+file, runs) },
		Ask: func(query string) (value string) {
			t.Helper()
			with(func(db *sql.DB) error { return db.QueryRow(query).Scan(&value) })
			return value
		},
		List: `SELECT json_group_array(line) FROM (%s)`,
		Exec: func(statement string) {
			t.Helper()
			with(func(db *sql.DB) error { _, err := db.Exec(statement); return err })
		},
	}
}

func TestDatabase(t *testing.T) { sqlsinktest.Run(t, newPlace) }

// A migrated file keeps the rows of the previous version, and has the new version's additions.
func TestMigrateFromTheVersionBefore(t *testing.T) {
	p := place(t, filepath.Join(t.TempDir(), "old.DB"))
	all := migrations
	t.Cleanup(func() { migrations = all })
	at := sqlsinktest.Created
	for v := len(all); v <= len(all)+1; v++ {
		if migrations = all; v > len(all) {
			migrations = append(all[:len(all):len(all)], sqlsink.Migration{Version: v, SQL: `CREATE INDEX added ON pages (title)`})
		}
		s, err := p.Open("default", sqlsink.FromRecords)
		check(t, err)
		check(t, sqlsinktest.Enter(t, s, at).Commit(at, uint64(v), sqlsinktest.Page(fmt.Sprintf("https://a.example/%d", v), 1, at, "old")))
		check(t, s.Close())
		if got := p.Ask(`PRAGMA user_version`); got != fmt.Sprint(v) {
			t.Errorf("version %s, want %d", got, v)
		}
	}
	if got := p.Ask(`SELECT count(*) || ' ' || (SELECT count(*) FROM sqlite_schema WHERE name = 'added') FROM pages`); got != "2 1" {
		t.Errorf("pages and indexes: %s", got)
	}
	// And back: a build without the last migration must not change the file.
	migrations = all
	for name, open := range map[string]func() error{
		"open": func() error { _, err := p.Open("default", sqlsink.FromRecords); return err },
		"read": func() error { _, err := p.Read("default"); return err },
	} {
		if err := open(); !errors.Is(err, sqlsink.ErrNewer) {
			t.Errorf("%s: %v, want %v", name, err, sqlsink.ErrNewer)
		}
	}
}

// A failed migration leaves the previous version.
func TestMigrationIsWholeOrNot(t *testing.T) {
	p := newPlace(t)
	all := migrations
	t.Cleanup(func() { migrations = all })
	migrations = append(all[:len(all):len(all)], sqlsink.Migration{Version: len(all) + 1, SQL: `CREATE TABLE new (a); INSERT INTO nowhere VALUES (1)`})
	if _, err := p.Open("default", sqlsink.FromRecords); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
	if got := p.Ask(`SELECT count(*) FROM sqlite_schema`); got != "0" {
		t.Errorf("%s things are left", got)
	}
	migrations = all
	s, err := p.Open("default", sqlsink.FromRecords)
	check(t, err)
	check(t, s.Close())
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	check(t, os.WriteFile(text, []byte(strings.Repeat("not a database ", 100)), 0o644))
	other := filepath.Join(dir, "other.db")
	place(t, other).Exec(`CREATE TABLE pages (mine TEXT)`)
	for file, want := range map[string]string{
		text:                               "is not an SQLite database",
		other:                              "another application",
		dir:                                "cannot write there",
		filepath.Join(text, "x.db"):        "cannot write there",
		filepath.Join(dir, "none", "x.db"): "the directory of the file must exist",
	} {
		_, err := Open(Scheme+file, "default", sqlsink.FromRecords, slog.New(slog.DiscardHandler), nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--out sqlite:"+file) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
	if _, err := Read(Scheme+filepath.Join(dir, "none.db"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading none: %v", err)
	}
	if _, err := Read(Scheme+other, ""); err == nil {
		t.Error("read a database of something else")
	}
	for out, want := range map[string]string{
		"sqlite:": "must be sqlite:FILE", "sqlite://x.db": "without the slashes", "sqlite::memory:": "must name a file", "sqlite:dir/": "must be sqlite:FILE",
	} {
		if err := Validate(out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", out, err, want)
		}
	}
	check(t, Validate("sqlite:a/b.db"))
}

// A transaction waits while another process holds the file.
func TestWaitsForAnotherProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	p := place(t, file)
	s, err := p.Open("default", sqlsink.FromRecords)
	check(t, err)
	defer s.Close()
	stay := sqlsinktest.Enter(t, s, sqlsinktest.Created)
	other, err := connect(file, "rw")
	check(t, err)
	defer other.Close()
	tx, err := other.DB.BeginTx(context.Background(), nil)
	check(t, err)
	done := make(chan error, 1)
	go func() {
		done <- stay.Commit(sqlsinktest.Created, 1, sqlsinktest.Page("https://a.example/", 1, sqlsinktest.Created, ""))
	}()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	check(t, tx.Commit())
	check(t, <-done)
}

// Several processes that start at once agree on which of them creates the tables, and write
// concurrently.
func TestStartTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	done := make(chan error)
	for n := range 6 {
		go func() {
			s, err := Open(Scheme+file, "default", sqlsink.FromRecords, slog.New(slog.DiscardHandler), nil)
			if err == nil {
				at := sqlsinktest.Created
				page := sqlsinktest.Page(fmt.Sprintf("https://a.example/%d", n), 1, at, "")
				err = errors.Join(sqlsinktest.Enter(t, s, at).Commit(at, uint64(n+1), page), s.Close())
			}
			done <- err
		}()
	}
	for range 6 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := place(t, file).Ask(`SELECT pages FROM sources`); got != "6" {
		t.Errorf("%s pages, want 6", got)
	}
}

// The diagram in the documentation has all tables.
func TestDocumentedTables(t *testing.T) {
	p := newPlace(t)
	s, err := p.Open("default", sqlsink.FromRecords)
	check(t, err)
	check(t, s.Close())
	tables := sqlsinktest.ReadDocumented(t).Tables
	for table, want := range tables {
		for i, column := range want {
			want[i], _, _ = strings.Cut(column, " ")
		}
		if got := p.Ask(`SELECT group_concat(name, ' ') FROM pragma_table_info('` + table + `')`); got != strings.Join(want, " ") {
			t.Errorf("%s has %s\nthe picture %s", table, got, strings.Join(want, " "))
		}
	}
	if got := p.Ask(`SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`); got != fmt.Sprint(len(tables)) {
		t.Errorf("%s tables, want %d", got, len(tables))
	}
}

// BenchmarkScale takes minutes: -bench Scale -benchtime 1x -timeout 1h.
func BenchmarkScale(b *testing.B) {
	sqlsinktest.Scale(b, place(b, filepath.Join(b.TempDir(), "scale.db")))
}
