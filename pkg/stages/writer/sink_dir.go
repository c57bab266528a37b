package writer

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"seine/pkg/messages"
)

// dirSink is a directory:
//
//	<out>/<crawl>/part-<ppp>-<epoch>-<first>.<ext>   chunks
//	<out>/_commits/<writer>/part-….json              the log
//	<out>/_commits/<writer>/part-<ppp>.lock          who is in a partition
//
// A file that is not finished has a dot before its name and ".tmp" after it.
type dirSink struct {
	out  string
	logs string // directory of the log
	log  *slog.Logger
	hook hook
}

// hook is called after each step of a commit, for tests to stop there.
type hook func(step string) error

// Steps of a commit.
const (
	stepWrite        = "write"         // bytes of a chunk are about to be written
	stepAppended     = "appended"      // a record was given to the encoder
	stepSynced       = "chunk synced"  // under its temporary name
	stepRenamed      = "chunk renamed" // to its final name
	stepFinished     = "chunk finished"
	stepEntrySynced  = "entry synced"  // under its temporary name
	stepEntryRenamed = "entry renamed" // to its final name: committed
	stepCommitted    = "committed"
	stepAcked        = "acked"
	stepIndexed      = "indexed"
)

func (h hook) at(step string) error {
	if h == nil {
		return nil
	}
	return h(step)
}

const (
	commitsDir = "_commits"
	tempSuffix = ".tmp"
	entryExt   = "json"
)

// openDir makes sure that the writer called name can write in out, alone.
func openDir(out, name string, log *slog.Logger, h hook) (*dirSink, error) {
	abs, err := filepath.Abs(out)
	if err != nil {
		return nil, fmt.Errorf("--out %s: %w", out, err)
	}
	s := &dirSink{out: abs, logs: filepath.Join(abs, commitsDir, name), log: log, hook: h}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("--out %s: is a file, not a directory", out)
	}
	if err := s.prepare(name); err != nil {
		return nil, fmt.Errorf("--out %s: %w", out, err)
	}
	return s, nil
}

func (s *dirSink) prepare(name string) error {
	if err := makeDir(s.out); err != nil {
		return fmt.Errorf("cannot be made: %w", err)
	}
	if _, err := os.Stat(s.logs); errors.Is(err, os.ErrNotExist) {
		if err := cmp.Or(s.refuseOthers(name), s.refuseStrays()); err != nil {
			return err
		}
	}
	if err := makeDir(s.logs); err != nil {
		return fmt.Errorf("cannot write there: %w (name another directory, or let this user write)", err)
	}
	probe, err := os.CreateTemp(s.logs, ".probe-*"+tempSuffix)
	if err != nil {
		return fmt.Errorf("cannot write there: %w (name another directory, or let this user write)", err)
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return fmt.Errorf("cannot write there: %w", err)
	}
	return s.refuseOthers(name)
}

// refuseOthers returns an error when another writer has its log in the same
// place: both would write the same names, and a reader would find every record
// twice.
func (s *dirSink) refuseOthers(name string) error {
	all, err := os.ReadDir(filepath.Dir(s.logs))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range all {
		if e.IsDir() && e.Name() != name {
			_ = os.Remove(s.logs) // if it is empty: it has just been made
			return fmt.Errorf("belongs to the writer %q, this one is %q: give each writer a directory of its own", e.Name(), name)
		}
	}
	return nil
}

// refuseStrays returns an error when there are chunks and no log of them: they
// would be taken for leftovers, and removed.
func (s *dirSink) refuseStrays() error {
	return s.eachChunk(func(dir string, _ Name, file string, temp bool) error {
		if temp {
			return nil
		}
		return fmt.Errorf("holds %s but no commit log for it: bring %s back, or name another directory",
			filepath.Join(filepath.Base(dir), file), filepath.Join(commitsDir, filepath.Base(s.logs)))
	})
}

// eachChunk calls do for every file that has the name of a chunk.
func (s *dirSink) eachChunk(do func(dir string, n Name, file string, temp bool) error) error {
	crawls, err := os.ReadDir(s.out)
	if err != nil {
		return err
	}
	for _, d := range crawls {
		if !d.IsDir() || messages.CheckCrawl(d.Name()) != nil {
			continue
		}
		dir := filepath.Join(s.out, d.Name())
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			if n, _, temp, ok := parseFile(f.Name()); ok {
				if err := do(dir, n, f.Name(), temp); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// parseFile reads the name of a file, finished or temporary.
func parseFile(file string) (n Name, ext string, temp, ok bool) {
	if s, dot := strings.CutPrefix(file, "."); dot {
		if s, temp = strings.CutSuffix(s, tempSuffix); !temp {
			return n, "", false, false
		}
		file = s
	}
	n, ext, ok = parseName(file)
	return n, ext, temp, ok
}

func tempName(file string) string { return "." + file + tempSuffix }

// Open implements Sink.
func (s *dirSink) Open(p int, created time.Time) (Partition, []Ref, error) {
	lock, err := vfs.Default.Lock(filepath.Join(s.logs, fmt.Sprintf("part-%03d.lock", p)))
	if isHeld(err) {
		return nil, nil, fmt.Errorf("partition %d of %s: %w", p, s.out, ErrHeld)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("lock partition %d of %s: %w", p, s.out, err)
	}
	refs, err := s.recover(p, epochOf(created))
	if err != nil {
		_ = lock.Close()
		return nil, nil, fmt.Errorf("recover partition %d of %s: %w", p, s.out, err)
	}
	return &dirPartition{sink: s, lock: lock}, refs, nil
}

// isHeld reports whether a lock could not be had because another has it.
func isHeld(err error) bool {
	if err == nil {
		return false
	}
	s := err.Error()
	return strings.Contains(s, "lock held by current process") || strings.Contains(s, "resource temporarily unavailable") ||
		strings.Contains(s, "being used by another process")
}

// recover removes what is not finished or not committed, and lists the log.
func (s *dirSink) recover(p int, epoch string) ([]Ref, error) {
	refs, err := s.list(p)
	if err != nil {
		return nil, err
	}
	committed := make(map[Name]bool, len(refs))
	for _, r := range refs {
		committed[r.Name] = true
	}
	err = s.eachChunk(func(dir string, n Name, file string, temp bool) error {
		if n.Partition != p || !temp && (n.Epoch != epoch || committed[n]) {
			return nil
		}
		s.log.Info("removing a chunk that was not committed", "file", filepath.Join(filepath.Base(dir), file))
		return os.Remove(filepath.Join(dir, file))
	})
	if err != nil {
		return nil, err
	}
	// The owner before may have been cut between a rename and its sync.
	return refs, syncDir(s.logs)
}

// list returns the entries of p in the log, in order, and removes the ones
// that are not finished. A negative p stands for all.
func (s *dirSink) list(p int) ([]Ref, error) {
	all, err := os.ReadDir(s.logs)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for _, e := range all {
		n, ext, temp, ok := parseFile(e.Name())
		switch {
		case !ok || ext != entryExt || p >= 0 && n.Partition != p:
		case !temp:
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			refs = append(refs, Ref{n, stampOf(info)})
		case p >= 0:
			if err := os.Remove(filepath.Join(s.logs, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	sortRefs(refs)
	return refs, nil
}

func stampOf(info os.FileInfo) string {
	return strconv.FormatInt(info.Size(), 36) + "." + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}

func (s *dirSink) read(r Ref) (*Commit, error) {
	file := filepath.Join(s.logs, r.Name.String()+"."+entryExt)
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read commit: %w", err)
	}
	c, err := decodeCommit(r.Name, text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w (bring it back from a copy; removing it makes its records be written again)", ErrCorrupt, file, err)
	}
	return c, nil
}

// dirPartition is a partition of a dirSink.
type dirPartition struct {
	sink *dirSink
	lock io.Closer
}

// Read implements Partition.
func (d *dirPartition) Read(r Ref) (*Commit, error) { return d.sink.read(r) }

// Close implements Partition.
func (d *dirPartition) Close() error { return d.lock.Close() }

// Commit implements Partition.
func (d *dirPartition) Commit(c *Commit) (Ref, error) {
	text, err := c.encode()
	if err != nil {
		return Ref{}, err
	}
	s, file := d.sink, c.Name().String()+"."+entryExt
	temp, final := filepath.Join(s.logs, tempName(file)), filepath.Join(s.logs, file)
	if err := writeSynced(temp, text); err != nil {
		_ = os.Remove(temp)
		return Ref{}, fmt.Errorf("write commit: %w", err)
	}
	if err := s.hook.at(stepEntrySynced); err != nil {
		return Ref{}, err
	}
	if err := rename(temp, final); err != nil {
		_ = os.Remove(temp)
		return Ref{}, fmt.Errorf("commit: %w", err)
	}
	if err := s.hook.at(stepEntryRenamed); err != nil {
		return Ref{}, err
	}
	if err := syncDir(s.logs); err != nil {
		return Ref{}, fmt.Errorf("commit: %w", err)
	}
	info, err := os.Stat(final)
	if err != nil {
		return Ref{}, fmt.Errorf("commit: %w", err)
	}
	return Ref{c.Name(), stampOf(info)}, nil
}

// Create implements Partition.
func (d *dirPartition) Create(n Name, crawl, ext string) (Chunk, error) {
	dir := filepath.Join(d.sink.out, crawl)
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("make directory of crawl %s: %w", crawl, err)
	}
	c := &dirChunk{hook: d.sink.hook, crawl: crawl, dir: dir, file: n.String() + "." + ext, sum: sha256.New()}
	f, err := os.OpenFile(filepath.Join(dir, tempName(c.file)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("begin chunk: %w", err)
	}
	c.f = f
	return c, nil
}

// dirChunk is a chunk of a dirSink.
type dirChunk struct {
	hook      hook
	crawl     string
	dir, file string
	f         *os.File
	sum       hash.Hash
	size      int64
}

// Write implements Chunk.
func (c *dirChunk) Write(b []byte) (int, error) {
	if err := c.hook.at(stepWrite); err != nil {
		return 0, err
	}
	n, err := c.f.Write(b)
	c.sum.Write(b[:n])
	c.size += int64(n)
	return n, err
}

// Finish implements Chunk.
func (c *dirChunk) Finish() (File, error) {
	if err := errors.Join(c.f.Sync(), c.f.Close()); err != nil {
		return File{}, fmt.Errorf("finish chunk: %w", err)
	}
	if err := c.hook.at(stepSynced); err != nil {
		return File{}, err
	}
	if err := rename(filepath.Join(c.dir, tempName(c.file)), filepath.Join(c.dir, c.file)); err != nil {
		return File{}, fmt.Errorf("finish chunk: %w", err)
	}
	if err := c.hook.at(stepRenamed); err != nil {
		return File{}, err
	}
	if err := syncDir(c.dir); err != nil {
		return File{}, fmt.Errorf("finish chunk: %w", err)
	}
	f := File{Path: path.Join(c.crawl, c.file), Crawl: c.crawl, Bytes: c.size, SHA256: hex.EncodeToString(c.sum.Sum(nil))}
	return f, c.hook.at(stepFinished)
}

// Abandon implements Chunk. A finished chunk is left alone: its entry may be in
// the log, even where writing that returned an error.
func (c *dirChunk) Abandon() {
	_ = c.f.Close()
	_ = os.Remove(filepath.Join(c.dir, tempName(c.file)))
}

// rename is os.Rename, but never replaces a file. That is no lock: who calls it
// holds the one of the partition.
func rename(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s: %w", to, ErrTaken)
	}
	return os.Rename(from, to)
}

func writeSynced(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// makeDir makes a directory durably, with those above it.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

var (
	_ Sink      = (*dirSink)(nil)
	_ Partition = (*dirPartition)(nil)
	_ Chunk     = (*dirChunk)(nil)
)
