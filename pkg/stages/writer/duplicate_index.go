package writer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"seine/internal/base/pebblestate"
	"seine/internal/output"
	outdir "seine/internal/output/dir"
)

// ErrInUse is returned when another process has the state directory open.
var ErrInUse = errors.New("in use by another process")

// identity identifies a record: the start of the SHA-256 of the Nats-Msg-Id.
type identity [output.IdentitySize]byte

func identityOf(msgID string) identity {
	sum := sha256.Sum256([]byte(msgID))
	return identity(sum[:output.IdentitySize])
}

// partitionWriter.isRepeat (partition_writer.go) uses the index to drop repeated records.

// index answers which identities are in committed entries of a partition and an incarnation of the
// stream. It is a cache of the commit log, and safe for concurrent use. Its keys are
//
//	i <partition> <created> <identity>      one for each record
//	m <partition> <created> <life> <first>  one for each entry it has, with its stamp
//
// An entry and its records are written in one batch. There is no write-ahead log: batches reach the
// disk completely and in order, and missing ones have no mark, so Sync finds them.
type index struct {
	db   *pebble.DB
	lock io.Closer
	ID   string // the same for the lifetime of the directory
}

// openIndex opens the index in dir, or creates it. It calls report with an error of the disk, and
// with nil when it is over; report must return at once.
func openIndex(dir string, log *slog.Logger, report func(error)) (*index, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("--state %s: %w", dir, err)
	}
	if err := os.MkdirAll(abs, 0o755); err != nil {
		return nil, fmt.Errorf("--state %s: cannot be created: %w", dir, err)
	}
	lock, err := vfs.Default.Lock(filepath.Join(abs, "LOCK"))
	if outdir.IsHeld(err) {
		err = fmt.Errorf("%w: use another state directory for each writer", ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("--state %s: %w", dir, err)
	}
	x := &index{lock: lock}
	if err := x.load(abs, log, report); err != nil {
		return nil, errors.Join(fmt.Errorf("--state %s: %w", dir, err), lock.Close())
	}
	return x, nil
}

func (i *index) load(dir string, log *slog.Logger, report func(error)) (err error) {
	store := filepath.Join(dir, "identities")
	if i.ID, err = pebblestate.Identity(dir); err != nil {
		return err
	}
	i.db, err = openPebble(store, log, report)
	if pebble.IsCorruptionError(err) {
		log.Warn("index is damaged; rebuilding it", "state", dir, "error", err)
		if err := os.RemoveAll(store); err != nil {
			return fmt.Errorf("remove damaged index: %w", err)
		}
		i.db, err = openPebble(store, log, report)
	}
	if err != nil {
		return fmt.Errorf("open index: %w", err)
	}
	return nil
}

func openPebble(dir string, log *slog.Logger, report func(error)) (*pebble.DB, error) {
	cache := pebble.NewCache(8 << 20)
	defer cache.Unref()
	opts := &pebble.Options{
		Cache: cache, MemTableSize: 4 << 20, MemTableStopWritesThreshold: 2, DisableWAL: true,
		MaxOpenFiles: 256, Logger: pebblestate.Logger("index", log), EventListener: listen(report),
	}
	opts.Experimental.CompactionScheduler = pebblestate.Scheduler()
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		// A filter is read as a whole. It must stay small compared to the cache.
		opts.TargetFileSizes[i] = 2 << 20
	}
	return pebble.Open(dir, opts)
}

// Close flushes the memory, unless the disk does not respond: the commit log has the same data.
// Then it closes the index.
func (i *index) Close() error {
	flushed, err := i.db.AsyncFlush()
	if err == nil {
		select {
		case <-flushed:
		case <-time.After(closeWait):
		}
	}
	if err := errors.Join(err, i.db.Close(), i.lock.Close()); err != nil {
		return fmt.Errorf("close index: %w", err)
	}
	return nil
}

const (
	closeWait = 2 * time.Second
	// flushWait is the delay between two attempts of Pebble to write a table, which it would
	// otherwise make in a tight loop.
	flushWait = 500 * time.Millisecond
)

// listen calls report with errors of the disk, and with nil once they are over. Until then, Add
// blocks when the memory for unwritten data is full.
func listen(report func(error)) *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			report(fmt.Errorf("index: %w", err))
			time.Sleep(flushWait)
		},
		FlushEnd: func(e pebble.FlushInfo) {
			if e.Err == nil {
				report(nil)
			}
		},
	}
}

// Has reports whether a committed entry has the identity.
func (i *index) Has(p int, created time.Time, id identity) (bool, error) {
	_, closer, err := i.db.Get(identityKey(p, created, id))
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read index: %w", err)
	}
	return true, closer.Close()
}

// Add adds a committed entry.
func (i *index) Add(r output.Ref, c *output.Commit) error {
	b := i.db.NewBatchWithSize(len(c.Visits)/output.IdentitySize*48 + 128)
	defer b.Close()
	for ids := c.Visits; len(ids) >= output.IdentitySize; ids = ids[output.IdentitySize:] {
		if err := b.Set(identityKey(c.Partition, c.Created, identity(ids[:output.IdentitySize])), nil, nil); err != nil {
			return fmt.Errorf("add to index: %w", err)
		}
	}
	if err := b.Set(markKey(r.Name, c.Created), []byte(r.Stamp), nil); err != nil {
		return fmt.Errorf("add to index: %w", err)
	}
	if err := b.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("add to index: %w", err)
	}
	return nil
}

// Sync makes the index hold exactly the given entries for partition p. They must all be of the
// incarnation of the stream that began at created.
func (i *index) Sync(p int, created time.Time, refs []output.Ref, read func(output.Ref) (*output.Commit, error)) error {
	have, other, err := i.marks(p, created)
	if err != nil {
		return err
	}
	same := 0 // entries that the index has unchanged
	for _, r := range refs {
		if stamp, ok := have[string(markKey(r.Name, created))]; ok && stamp == r.Stamp {
			same++
		}
	}
	if other || same < len(have) { // it has entries of another stream, or entries that were replaced or removed
		if err := i.forget(p); err != nil {
			return err
		}
		clear(have)
	}
	for _, r := range refs {
		if _, ok := have[string(markKey(r.Name, created))]; ok {
			continue
		}
		c, err := read(r)
		if err != nil {
			return err
		}
		if err := i.Add(r, c); err != nil {
			return err
		}
	}
	return nil
}

// marks returns the stamps of the entries of p in the index, and whether it has any of another
// incarnation of the stream.
func (i *index) marks(p int, created time.Time) (have map[string]string, other bool, err error) {
	all := prefix('m', p)
	it, err := i.db.NewIter(&pebble.IterOptions{LowerBound: all, UpperBound: after(all)})
	if err != nil {
		return nil, false, fmt.Errorf("scan index: %w", err)
	}
	have = make(map[string]string)
	same := life('m', p, created)
	for ok := it.First(); ok; ok = it.Next() {
		if !bytes.HasPrefix(it.Key(), same) {
			other = true
			continue
		}
		have[string(it.Key())] = string(it.Value())
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return nil, false, fmt.Errorf("scan index: %w", err)
	}
	return have, other, nil
}

// forget removes all entries of p from the index.
func (i *index) forget(p int) error {
	b := i.db.NewBatch()
	defer b.Close()
	for _, kind := range []byte{'i', 'm'} {
		from := prefix(kind, p)
		if err := b.DeleteRange(from, after(from), nil); err != nil {
			return fmt.Errorf("clear index: %w", err)
		}
	}
	if err := b.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("clear index: %w", err)
	}
	return nil
}

func prefix(kind byte, p int) []byte {
	return binary.BigEndian.AppendUint16([]byte{kind}, uint16(p))
}

func life(kind byte, p int, created time.Time) []byte {
	return binary.BigEndian.AppendUint64(prefix(kind, p), uint64(created.UnixNano()))
}

func identityKey(p int, created time.Time, id identity) []byte {
	return append(life('i', p, created), id[:]...)
}

func markKey(n output.Name, created time.Time) []byte {
	k := binary.BigEndian.AppendUint32(life('m', n.Partition, created), uint32(n.Incarnation))
	return binary.BigEndian.AppendUint64(k, n.First)
}

// after returns the first key after all keys with a prefix, which must begin with a letter.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; ; i-- {
		end[i]++
		if end[i] != 0 {
			return end
		}
	}
}
