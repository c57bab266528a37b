package state

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Contradictions between the records of a store are repaired: see base.reportRepair. Damaged files
// cannot be repaired. A note beside them makes the next process move them aside and start without
// them. The partitions are then rebuilt from snapshots and streams, as after the loss of a machine.

// ErrDamaged is returned when files of the store do not hold what was written to them.
var ErrDamaged = errors.New("files of the frontier's store are damaged")

const (
	damageNote = "DAMAGED" // holds the error; marks the directory as to be moved aside
	asideName  = "damaged" // subdirectory of the store that damaged files are moved to
)

// noteDamage records for QuarantineDamaged that files in dir are damaged.
func noteDamage(found error, dir string, log *slog.Logger) {
	note := filepath.Join(dir, damageNote)
	if _, err := os.Stat(note); err == nil {
		return
	}
	log.Error("files of the frontier's store are damaged", "state", dir, "error", found)
	if err := os.WriteFile(note, []byte(found.Error()+"\n"), 0o644); err != nil {
		log.Error("cannot note that the frontier's store is damaged", "state", dir, "error", err)
	}
}

// explained adds instructions to an error that reports damaged files.
func explained(err error, dir string, log *slog.Logger) error {
	if !pebble.IsCorruptionError(err) || errors.Is(err, ErrDamaged) {
		return err
	}
	noteDamage(err, dir, log)
	return fmt.Errorf("%w: %w (check the disk and start again: a frontier with snapshots, --snapshot-every, moves the files aside; "+
		"otherwise move %s away first; the partitions are rebuilt from their snapshots and the streams)", ErrDamaged, err, dir)
}

// Explained adds instructions to an error that reports damaged files of the store.
func (s *Store) Explained(err error, log *slog.Logger) error { return explained(err, s.dir, log) }

// QuarantineDamaged moves the files of a store marked as damaged to a subdirectory of dir, for a
// person to examine. It does nothing if the store is not marked. It returns an error if files moved
// earlier are still there.
func QuarantineDamaged(dir string, log *slog.Logger) error {
	found, err := os.ReadFile(filepath.Join(dir, damageNote))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("move damaged store aside: %w", err)
	}
	aside := filepath.Join(dir, asideName)
	if _, err := os.Stat(filepath.Join(aside, damageNote)); err == nil {
		return fmt.Errorf("%w again: %s (check the disk, remove the files moved aside earlier, %s, and start again)", ErrDamaged, found, aside)
	}
	if err := moveAside(dir, aside); err != nil {
		return fmt.Errorf("move damaged store aside: %w", err)
	}
	log.Error("files of the frontier's store are damaged; starting without them: the partitions are rebuilt from their snapshots and the streams; check the disk, then remove the files",
		"files", aside, "error", string(found))
	return nil
}

// moveAside moves all files but the lock. It moves the note last, so that the next process
// continues after a kill.
func moveAside(dir, aside string) error {
	lock, err := pebble.LockDirectory(dir, vfs.Default)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, ErrInUse)
	}
	defer lock.Close()
	if err := os.MkdirAll(aside, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name != "LOCK" && name != asideName && name != damageNote {
			if err := os.Rename(filepath.Join(dir, name), filepath.Join(aside, name)); err != nil {
				return err
			}
		}
	}
	return os.Rename(filepath.Join(dir, damageNote), filepath.Join(aside, damageNote))
}
