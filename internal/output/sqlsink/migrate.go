package sqlsink

import (
	"context"
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

// Schema is a transaction that changes tables, alone.
type Schema interface {
	// Version returns the version of the tables, 0 if there are none.
	Version(ctx context.Context) (int, error)
	SetVersion(ctx context.Context, v int) error
	Exec(ctx context.Context, sql string) error
}

// Migrate brings the tables to the last version, all in the transaction of s.
func Migrate(ctx context.Context, s Schema, all []Migration) error {
	have, err := s.Version(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the tables: %w", err)
	}
	if err := CheckVersion(have, all); err != nil {
		return err
	}
	for _, m := range all[have:] {
		if err := s.Exec(ctx, m.SQL); err != nil {
			return fmt.Errorf("bring the tables to version %d: %w", m.Version, err)
		}
	}
	if have == len(all) {
		return nil
	}
	if err := s.SetVersion(ctx, len(all)); err != nil {
		return fmt.Errorf("set the version of the tables: %w", err)
	}
	return nil
}

// ErrNoTables is returned for a database in which no writer has begun.
var ErrNoTables = errors.New("has no tables of Seine")

// CheckReadable refuses what has no tables, and tables that this build does not
// know.
func CheckReadable(have int, all []Migration) error {
	if have == 0 {
		return ErrNoTables
	}
	return CheckVersion(have, all)
}

// CheckVersion refuses tables that this build does not know.
func CheckVersion(have int, all []Migration) error {
	if have > len(all) {
		return fmt.Errorf("%w: version %d, this one knows %d: use that build, or another database", ErrNewer, have, len(all))
	}
	return nil
}
