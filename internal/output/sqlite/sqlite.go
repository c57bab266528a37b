// Package sqlite is a file of SQLite as a place for output. Package sqlsink has the
// argument why nothing is lost and nothing comes twice.
//
// The file is in WAL mode, where the end of a transaction is one record at the end
// of the log, which is synced before it is told (synchronous = FULL). Several
// processes of one machine may write; one transaction at a time has the file, and
// the others wait for it. A frozen process that has it keeps the others out until
// it thaws or ends.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"seine/internal/output"
	"seine/internal/output/sqlsink"
)

// Scheme begins what names a file.
const Scheme = "sqlite:"

// Is reports whether out names a file of SQLite.
func Is(out string) bool { return strings.HasPrefix(out, Scheme) }

// File returns the file that out names.
func File(out string) string { return strings.TrimPrefix(out, Scheme) }

// Validate says what is wrong with out.
func Validate(out string) error {
	file := File(out)
	switch {
	case file == "" || strings.HasSuffix(file, "/"):
		return fmt.Errorf("--out %q: must be sqlite:FILE", out)
	case strings.HasPrefix(file, "//"):
		return fmt.Errorf("--out %q: must be sqlite:FILE, without the slashes of a URL", out)
	case strings.HasPrefix(file, ":"):
		return fmt.Errorf("--out %q: must name a file: what is in memory is gone with the process", out)
	}
	return nil
}

//go:embed migrations
var files embed.FS

var migrations = sqlsink.Migrations(files)

// application marks a file as Seine's, in its header: "SEIN".
const application = 0x5345494e

// busyWait is how long a transaction waits for those of other processes.
const busyWait = 10 * time.Second

// database is a file as one writer has it.
type database struct {
	db     *sql.DB
	writer string
}

// Open makes sure that the writer called name, of the source from, can write to the
// file that out names.
func Open(out, name, from string, log *slog.Logger, h output.Hook) (*sqlsink.Sink, error) {
	d, err := open(File(out), name, from)
	if err != nil {
		return nil, fmt.Errorf("--out %s: %w", out, explain(err))
	}
	return sqlsink.NewSink(out, from, d, log, h), nil
}

func open(file, name, from string) (*database, error) {
	d, err := create(file)
	if err != nil {
		return nil, err
	}
	d.writer = name
	ctx := context.Background()
	err = d.prepare(ctx)
	if err == nil {
		err = d.register(ctx, from)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// create opens a file, and makes it and its folder if need be.
func create(file string) (*database, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("cannot be made: %w", err)
	}
	return connect(file, "rwc")
}

// connect opens a file with one connection: writers of one process would only wait
// for each other in the file.
func connect(file, mode string) (*database, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	q := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyWait.Milliseconds()), "synchronous(FULL)",
		"journal_size_limit(67108864)", "cache_size(-8192)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &database{db: db}, nil
}

// Read returns the log of the writer called name in a file, or of that of records if
// name is empty.
func Read(out, name string) (output.Log, error) {
	d, err := read(out, name)
	if err != nil {
		return nil, err
	}
	return sqlsink.NewSink(out, "", d, nil, nil), nil
}

// Writers returns the names of the writers of a file.
func Writers(out string) ([]string, error) {
	d, err := read(out, "")
	if err != nil {
		return nil, err
	}
	var all string
	err = d.db.QueryRow(`SELECT group_concat(name, ' ') FROM writers`).Scan(&all)
	return strings.Fields(all), errors.Join(err, d.Close())
}

// read opens a file to read it.
func read(out, name string) (*database, error) {
	file := File(out)
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	d, err := connect(file, "rw") // a reader of WAL needs to write beside the file
	if err != nil {
		return nil, err
	}
	if err := d.isOurs(context.Background(), name); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", out, err), d.Close())
	}
	return d, nil
}

// isOurs checks that the file can be read, and finds out who wrote it.
func (d *database) isOurs(ctx context.Context, name string) error {
	have, err := d.version(ctx, d.db)
	if err == nil {
		err = sqlsink.CheckReadable(have, migrations)
	}
	if err != nil {
		return err
	}
	if d.writer = name; name == "" {
		err = d.db.QueryRowContext(ctx, `SELECT name FROM writers ORDER BY source LIMIT 1`).Scan(&d.writer)
	}
	return err
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the version of the tables, and an error for a file that is
// something else.
func (d *database) version(ctx context.Context, q querier) (int, error) {
	var version, app, tables int
	err := q.QueryRowContext(ctx, `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`).Scan(&version, &app, &tables)
	if err == nil && app != application && tables > 0 {
		err = errors.New("is a database of something else: name another file")
	}
	return version, err
}

// prepare makes the tables, or brings them to this build's version.
func (d *database) prepare(ctx context.Context) error {
	have, err := d.version(ctx, d.db)
	if err != nil {
		return err
	}
	if err := sqlsink.CheckVersion(have, migrations); err != nil {
		return err
	}
	if err := d.useLog(ctx); err != nil {
		return err
	}
	if have == len(migrations) {
		return nil
	}
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := sqlsink.Migrate(ctx, schema{d, tx}, migrations); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// useLog switches the file to WAL mode. SQLite waits for no other process there, as it
// holds a lock already: the switch is tried again for busyWait.
func (d *database) useLog(ctx context.Context) error {
	var mode string
	for end := time.Now().Add(busyWait); ; {
		err := d.db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
		if isBusy(err) && time.Now().Before(end) {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err == nil && mode != "wal" {
			err = fmt.Errorf("its file system cannot have a write-ahead log (journal mode %s): name a file on a local disk", mode)
		}
		return err
	}
}

// schema is a transaction that changes the tables.
type schema struct {
	d  *database
	tx *sql.Tx
}

// Version implements sqlsink.Schema.
func (s schema) Version(ctx context.Context) (int, error) { return s.d.version(ctx, s.tx) }

// SetVersion implements sqlsink.Schema.
func (s schema) SetVersion(ctx context.Context, v int) error {
	return s.Exec(ctx, fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, application, v))
}

// Exec implements sqlsink.Schema.
func (s schema) Exec(ctx context.Context, text string) error {
	_, err := s.tx.ExecContext(ctx, text)
	return err
}

// register refuses a second writer of the same stream.
func (d *database) register(ctx context.Context, from string) error {
	var have string
	ask := func() error {
		return d.db.QueryRowContext(ctx, `SELECT name FROM writers WHERE source = ?`, from).Scan(&have)
	}
	err := ask()
	if errors.Is(err, sql.ErrNoRows) { // unless one that starts at the same time makes it
		_, err = d.db.ExecContext(ctx, `INSERT INTO writers (name, source) VALUES (?, ?) ON CONFLICT DO NOTHING`, d.writer, from)
		if err == nil {
			err = ask()
		}
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return sqlsink.CheckWriter(have, d.writer, from)
}

// isTaken reports that a key is in use.
func isTaken(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && (e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE)
}

// isBusy reports that another process has the file.
func isBusy(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// explain makes of an error one that the writer knows, or a person can do something
// about.
func explain(err error) error {
	e, ok := errors.AsType[*driver.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w (%w)", syscall.ENOSPC, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another process has had the file for %s: %w", busyWait, err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("is not a database of SQLite: %w", err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return fmt.Errorf("cannot write there: %w (name another file, or let this user write)", err)
	}
	return err
}

// Close implements sqlsink.Database.
func (d *database) Close() error { return d.db.Close() }
