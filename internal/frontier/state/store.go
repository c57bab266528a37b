package state

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"seine/internal/base/atomicfile"
	"seine/internal/base/pebblestate"
	"seine/internal/base/stateencryption"
	"seine/internal/frontier/table"
)

// Sync is what a commit waits for.
type Sync string

// Sync policies.
const (
	SyncOS     Sync = "os"     // written to the operating system: survives kill -9
	SyncAlways Sync = "always" // on the disk: survives power loss too
)

// ErrInUse is returned when another process has the store open.
var ErrInUse = errors.New("in use by another process")

// Store is the Pebble store of a frontier process. Its ID stays the same for the life of the
// directory.
type Store struct {
	ID string
	// Killed says that the previous process did not close the store, so the store may have lost its
	// last commits. The owner resets it.
	Killed bool

	db      *pebble.DB
	dir     string
	options *pebble.Options
}

// OpenStore opens the store in dir, or creates it.
func OpenStore(dir string, cacheBytes int64, policy Sync, key *stateencryption.Key, log *slog.Logger) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create frontier store: %w", err)
	}
	id, err := pebblestate.Identity(dir)
	if err != nil {
		return nil, fmt.Errorf("open frontier store %s: %w", dir, err)
	}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	fs := key.FS(vfs.Default)
	if policy == SyncOS {
		fs = osSync{fs}
	}
	opts := &pebble.Options{
		FS: fs, Cache: cache, MemTableSize: 16 << 20, MemTableStopWritesThreshold: 4,
		L0CompactionThreshold: 4, MaxOpenFiles: 500, Logger: pebblestate.Logger("store", log),
		FormatMajorVersion: pebble.FormatColumnarBlocks, // each later version costs a new store an fsync
	}
	opts.Experimental.CompactionScheduler = pebblestate.Scheduler()
	// Without this, Pebble ends the process at once. The read that hits the damage returns an error
	// as well.
	opts.EventListener = &pebble.EventListener{DataCorruption: func(info pebble.DataCorruptionInfo) { noteDamage(info.Details, dir, log) }}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		if i == len(opts.Levels)-1 { // most keys looked up exist: see seen
			opts.Levels[i].FilterPolicy = pebble.NoFilterPolicy
		}
	}
	opts.EnsureDefaults() // snapshots are written with these options too
	db, err := pebble.Open(dir, opts)
	if err != nil {
		if strings.Contains(err.Error(), "resource temporarily unavailable") || strings.Contains(err.Error(), "lock held") {
			err = ErrInUse
		}
		return nil, fmt.Errorf("open frontier store %s: %w", dir, explained(err, dir, log))
	}
	s := &Store{ID: id, db: db, dir: dir, options: opts}
	if _, err := os.Stat(s.openMark()); err == nil {
		s.Killed = true
	} else if err := atomicfile.Write(s.openMark(), nil); err != nil {
		return nil, errors.Join(fmt.Errorf("open frontier store %s: %w", dir, err), db.Close())
	}
	return s, nil
}

// openMark is the file that exists while the store is open.
func (s *Store) openMark() string { return filepath.Join(s.dir, "OPEN") }

// Dir returns the directory of the store.
func (s *Store) Dir() string { return s.dir }

// Close flushes and closes the store.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close frontier store: %w", err)
	}
	if s.Killed {
		return nil
	}
	if err := os.Remove(s.openMark()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("close frontier store: %w", err)
	}
	return nil
}

// osSync skips the fsync of the write-ahead log: a commit waits only for the operating system.
// Tables and manifests are synced as usual, so a power loss costs the last commits, never the
// store.
type osSync struct{ vfs.FS }

func (fs osSync) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return wal(name)(fs.FS.Create(name, c))
}

func (fs osSync) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return wal(name)(fs.FS.ReuseForWrite(old, name, c))
}

func wal(name string) func(vfs.File, error) (vfs.File, error) {
	return func(f vfs.File, err error) (vfs.File, error) {
		if err != nil || !strings.HasSuffix(name, ".log") {
			return f, err
		}
		return unsynced{f}, nil
	}
}

type unsynced struct{ vfs.File }

func (unsynced) Sync() error     { return nil }
func (unsynced) SyncData() error { return nil }

// scan calls table.Scan on the store.
func (s *Store) scan(prefix, lower []byte, do func(key, value []byte) (bool, error)) error {
	return table.Scan(s.db, prefix, lower, do)
}

// has calls table.Has on the store.
func (s *Store) has(key []byte) (bool, error) { return table.Has(s.db, key) }

// get calls table.Get on the store.
func (s *Store) get(key []byte) ([]byte, error) { return table.Get(s.db, key) }
