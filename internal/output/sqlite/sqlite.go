// Package sqlite writes output to an SQLite file. Package sqlsink explains why no record is lost or
// stored twice.
//
// The file is in WAL mode, where a transaction ends with one record at the end of the log, which is
// synced before the commit is reported (synchronous = FULL). Several processes of one machine may
// write. One transaction at a time holds the file, and the others wait for it. A frozen process
// that holds it blocks the others until it resumes or ends.
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

// Scheme is the prefix of a destination in an SQLite file.
const Scheme = "sqlite:"

// Is reports whether out is an SQLite file.
func Is(out string) bool { return strings.HasPrefix(out, Scheme) }

// File returns the file name in out.
func File(out string) string { return strings.TrimPrefix(out, Scheme) }

// Validate returns an error if out is invalid.
func Validate(out string) error {
	file := File(out)
	switch {
	case file == "" || strings.HasSuffix(file, "/"):
		return fmt.Errorf("--out %q: must be sqlite:FILE", out)
	case strings.HasPrefix(file, "//"):
		return fmt.Errorf("--out %q: must be sqlite:FILE, without the slashes of a URL", out)
	case strings.HasPrefix(file, ":"):
		return fmt.Errorf("--out %q: must name a file: data in memory is lost with the process", out)
	}
	return nil
}

//go:embed migrations
var files embed.FS

var migrations = sqlsink.Migrations(files)

// application marks a file as Seine's, in its header: "SEIN".
const application = 0x5345494e

// busyWait is how long a transaction waits for other processes' transactions, such as a person's
// shell.
const busyWait = time.Minute

// database is the file of one writer.
type database struct{ sqlsink.Tables }

// Open makes sure that the named writer, of the source from, can write to the file out.
func Open(out, name, from string, log *slog.Logger, h output.Hook) (*sqlsink.Sink, error) {
	d, err := create(out, func(d *database) error { return d.Register(context.Background(), name, from) })
	if err != nil {
		return nil, fmt.Errorf("--out %w", err)
	}
	return sqlsink.NewSink(out, from, d, log, h), nil
}

// OpenTemporary opens a file that only this process uses and that need not survive a crash.
func OpenTemporary(out string, log *slog.Logger) (*sqlsink.Sink, error) {
	d, err := create(out, func(d *database) error {
		_, err := d.DB.Exec(`PRAGMA synchronous = OFF; PRAGMA cache_size = -65536`)
		return errors.Join(err, d.Register(context.Background(), "items", sqlsink.FromRecords))
	})
	if err != nil {
		return nil, err
	}
	return sqlsink.NewSink(out, sqlsink.FromRecords, d, log, nil), nil
}

// SetRuns stores the figures of runs in the file out, in one transaction. It creates missing
// tables.
func SetRuns(ctx context.Context, out string, runs []sqlsink.Run) error {
	d, err := create(out, func(d *database) error { return d.SetRuns(ctx, runs) })
	if err != nil {
		return err
	}
	return d.Close()
}

// create opens a file, creates it and its tables if needed, and calls begin. Its errors begin with
// out.
func create(out string, begin func(*database) error) (*database, error) {
	if _, err := os.Stat(filepath.Dir(File(out))); err != nil {
		return nil, fmt.Errorf("%s: the directory of the file must exist: %w", out, err)
	}
	d, err := connect(File(out), "rwc")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", out, err)
	}
	ctx := context.Background()
	if _, err = d.Version(ctx, d.DB); err == nil {
		err = d.useLog(ctx)
	}
	if err == nil {
		err = d.Migrate(ctx)
	}
	if err == nil {
		err = begin(d)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", out, d.Explain(err)), d.Close())
	}
	return d, nil
}

// connect opens a file with one connection: several writers in one process would only wait for each
// other.
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
	return &database{sqlsink.Tables{Dialect: dialect{}, DB: db, Migrations: migrations}}, nil
}

// Read returns the log of the named writer in a file. If name is empty, it returns the log of the
// writer of records.
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
	names, err := d.Writers(context.Background())
	return names, errors.Join(err, d.Close())
}

// read opens a file for reading.
func read(out, name string) (*database, error) {
	file := File(out)
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	d, err := connect(file, "rw") // a reader in WAL mode writes files beside this one
	if err != nil {
		return nil, err
	}
	if err := d.Read(context.Background(), name); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", out, err), d.Close())
	}
	return d, nil
}

// dialect implements the parts of sqlsink that are specific to SQLite.
type dialect struct{}

// Version implements sqlsink.Dialect. It returns an error for a database of another program.
func (dialect) Version(ctx context.Context, q sqlsink.Querier) (int, error) {
	var version, app, tables int
	err := q.QueryRowContext(ctx, `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`).Scan(&version, &app, &tables)
	if err == nil && app != application && tables > 0 {
		err = errors.New("is a database of another application: name another file")
	}
	return version, err
}

// SetVersion implements sqlsink.Dialect.
func (dialect) SetVersion(ctx context.Context, tx *sql.Tx, v int) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, application, v))
	return err
}

// Lock implements sqlsink.Dialect. A transaction already locks the file.
func (dialect) Lock(context.Context, *sql.Tx) error { return nil }

// Mark implements sqlsink.Dialect.
func (dialect) Mark() string { return `octet_length(entry) || '.' || committed_at` }

// timeLayout has a fixed length, so that times sort as text.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

func stamp(t time.Time) string { return t.UTC().Format(timeLayout) }

// Moment implements sqlsink.Dialect.
func (dialect) Moment(t time.Time) any { return stamp(t) }

// JSON implements sqlsink.Dialect.
func (dialect) JSON(data []byte) any {
	if data == nil {
		return nil
	}
	return string(sqlsink.MendEscapes(data))
}

// Visits implements sqlsink.Dialect.
func (dialect) Visits() string {
	return `SELECT value ->> 0 AS crawl, value ->> 1 AS url, value ->> 2 AS visit, value ->> 3 AS fetched_at, value ->> 4 AS round,
		value ->> 5 AS run FROM json_each($1)`
}

// NewID implements sqlsink.Dialect.
func (dialect) NewID() string { return `randomblob(16)` }

// useLog switches the file to WAL mode. SQLite does not wait for other processes in this case,
// since it holds a lock already. So useLog retries for busyWait.
func (d *database) useLog(ctx context.Context) error {
	var mode string
	for end := time.Now().Add(busyWait); ; {
		err := d.DB.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
		if isBusy(err) && time.Now().Before(end) {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err == nil && mode != "wal" {
			err = fmt.Errorf("its file system does not support a write-ahead log (journal mode %s): name a file on a local disk", mode)
		}
		return err
	}
}

// isTaken reports whether err says that a key is in use.
func isTaken(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && (e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE)
}

// isBusy reports whether err says that another process holds the file.
func isBusy(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// Explain implements sqlsink.Dialect. It converts errors to ones that the writer handles or that a
// person can act on.
func (dialect) Explain(err error) error {
	e, ok := errors.AsType[*driver.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w (%w)", syscall.ENOSPC, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another process has locked the file for %s: %w", busyWait, err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("is not an SQLite database: %w", err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return fmt.Errorf("cannot write there: %w (name another file, or let this user write)", err)
	}
	return err
}

// Close implements sqlsink.Database.
func (d *database) Close() error {
	if d.Writer != "" { // without WAL the file is complete by itself; this fails if another process has it open
		_, _ = d.DB.Exec(`PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE`)
	}
	return d.DB.Close()
}
