package sqlsink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// ErrNewer is returned for tables that a newer build of Seine has made.
var ErrNewer = errors.New("its tables are those of a newer build of Seine")

// Migration brings the tables from the version before to its own.
type Migration struct {
	Version int
	SQL     string
}

// Migrations reads the migrations of a database, which are files named
// "migrations/1_what_for.sql" and so on, without a gap.
func Migrations(files fs.FS) []Migration {
	entries, err := fs.ReadDir(files, "migrations")
	if err != nil {
		panic("no migrations: " + err.Error()) // they are embedded
	}
	all := make([]Migration, len(entries))
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		text, err := fs.ReadFile(files, path.Join("migrations", e.Name()))
		n, nerr := strconv.Atoi(number)
		if err != nil || nerr != nil || n < 1 || n > len(all) || all[n-1].Version != 0 {
			panic("migration is misnamed: " + e.Name())
		}
		all[n-1] = Migration{n, string(text)}
	}
	return all
}

// ErrNoTables is returned for a database in which no writer has begun.
var ErrNoTables = errors.New("has no tables of Seine")

// Migrate brings the tables to the last version, in one transaction. Where they are of that version it changes nothing.
func (t *Tables) Migrate(ctx context.Context) error {
	if missing, err := t.missing(ctx, t.DB); err != nil || len(missing) == 0 {
		return err
	}
	return t.change(ctx, func(tx *sql.Tx) error {
		missing, err := t.missing(ctx, tx) // others may have made them before the lock
		if err != nil || len(missing) == 0 {
			return err
		}
		for _, m := range missing {
			if _, err := tx.ExecContext(ctx, m.SQL); err != nil {
				return fmt.Errorf("bring the tables to version %d: %w", m.Version, err)
			}
		}
		if err := t.SetVersion(ctx, tx, len(t.Migrations)); err != nil {
			return fmt.Errorf("set the version of the tables: %w", err)
		}
		return nil
	})
}

// missing returns the migrations that the tables lack. It refuses tables that this build does not know.
func (t *Tables) missing(ctx context.Context, q Querier) ([]Migration, error) {
	have, err := t.Version(ctx, q)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the version of the tables: %w", err)
	case have > len(t.Migrations):
		return nil, fmt.Errorf("%w: version %d, this one knows %d: use that build, or another database", ErrNewer, have, len(t.Migrations))
	}
	return t.Migrations[have:], nil
}
