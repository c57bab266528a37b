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

// ErrNewer is returned for tables of a newer build of Seine.
var ErrNewer = errors.New("its tables were made by a newer build of Seine")

// Migration changes the tables from the previous version to its own.
type Migration struct {
	Version int
	SQL     string
}

// Migrations reads the migrations of a database: files named "migrations/1_what_for.sql" and so on,
// numbered without gaps.
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

// ErrNoTables is returned for a database that no writer has used.
var ErrNoTables = errors.New("has no tables of Seine")

// Migrate migrates the tables to the last version, in one transaction. If they have that version it
// changes nothing.
func (t *Tables) Migrate(ctx context.Context) error {
	if missing, err := t.missing(ctx, t.DB); err != nil || len(missing) == 0 {
		return err
	}
	return t.change(ctx, func(tx *sql.Tx) error {
		missing, err := t.missing(ctx, tx) // another process may have migrated them before this one got the lock
		if err != nil || len(missing) == 0 {
			return err
		}
		for _, m := range missing {
			if _, err := tx.ExecContext(ctx, m.SQL); err != nil {
				return fmt.Errorf("migrate the tables to version %d: %w", m.Version, err)
			}
		}
		if err := t.SetVersion(ctx, tx, len(t.Migrations)); err != nil {
			return fmt.Errorf("set the version of the tables: %w", err)
		}
		return nil
	})
}

// missing returns the migrations that the tables lack. It returns an error for tables of a newer
// version.
func (t *Tables) missing(ctx context.Context, q Querier) ([]Migration, error) {
	have, err := t.Version(ctx, q)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the version of the tables: %w", err)
	case have > len(t.Migrations):
		return nil, fmt.Errorf("%w: version %d, this one supports %d: use that build, or another database", ErrNewer, have, len(t.Migrations))
	}
	return t.Migrations[have:], nil
}
