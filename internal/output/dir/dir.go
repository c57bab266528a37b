// Package dir writes output to a directory.
package dir

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"seine/internal/output"
)

// Sink is a directory:
//
//	<out>/<dir>/part-<ppp>-<epoch>-<first>.<ext>     chunks
//	<out>/_commits/<writer>/part-….json              the log
//	<out>/_commits/<writer>/part-<ppp>.lock          held by the owner of a partition
//	<out>/_commits/<writer>/part-<ppp>.owner         the current or last owner
//	<out>/_commits/<writer>/place                    see output.Place
//	<out>/_tmp/<writer>/part-<ppp>/                  objects in progress
//
// An unfinished file has a dot before its name and ".tmp" after it. The folder of a chunk is its
// group's.
type Sink struct {
	out  string
	logs string // directory of the log
	log  *slog.Logger
	hook output.Hook
	// foldsCase is whether the file system treats "A" and "a" as one name.
	foldsCase bool
}

const tempSuffix = ".tmp"

// Read returns the log of the named writer in a directory, or of the only writer if name is empty.
func Read(out, name string) (output.Log, error) {
	if _, err := os.Stat(out); err != nil {
		return nil, err
	}
	if name == "" {
		names, err := Writers(out)
		if err != nil {
			return nil, err
		}
		if name, err = output.Only(names); err != nil {
			return nil, fmt.Errorf("%s: %w", out, err)
		}
	}
	return &Sink{out: out, logs: filepath.Join(out, output.CommitsDir, name), log: slog.New(slog.DiscardHandler)}, nil
}

// Writers returns the names of the writers that have a log in out.
func Writers(out string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(out, output.CommitsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// Open makes sure that the named writer can write to out, and is the only one.
func Open(out, name string, log *slog.Logger, h output.Hook) (*Sink, error) {
	abs, err := filepath.Abs(out)
	if err != nil {
		return nil, fmt.Errorf("--out %s: %w", out, err)
	}
	s := &Sink{out: abs, logs: filepath.Join(abs, output.CommitsDir, name), log: log, hook: h}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("--out %s: is a file, not a directory", out)
	}
	if err := s.prepare(name); err != nil {
		return nil, fmt.Errorf("--out %s: %w", out, err)
	}
	return s, nil
}

func (s *Sink) prepare(name string) error {
	if err := makeDir(s.out); err != nil {
		return fmt.Errorf("cannot be created: %w", err)
	}
	if _, err := os.Stat(s.logs); errors.Is(err, os.ErrNotExist) {
		if err := cmp.Or(s.refuseOthers(name), s.refuseStrays()); err != nil {
			return err
		}
	}
	if err := makeDir(s.logs); err != nil {
		return fmt.Errorf("cannot write there: %w (name another directory, or let this user write)", err)
	}
	if err := s.probe(); err != nil {
		return fmt.Errorf("cannot write there: %w (name another directory, or let this user write)", err)
	}
	err := s.refuseOthers(name)
	if err != nil {
		_ = os.Remove(s.logs) // only if it is empty: this process has just created it
	}
	return err
}

// probe checks that files can be written, and whether their names keep upper and lower case apart.
// It also removes probe files of killed processes.
func (s *Sink) probe() error {
	const prefix = ".Probe-"
	f, err := os.CreateTemp(s.logs, prefix+"*"+tempSuffix)
	if err != nil {
		return err
	}
	_ = f.Close()
	_, err = os.Stat(filepath.Join(s.logs, strings.ToLower(filepath.Base(f.Name()))))
	s.foldsCase = err == nil
	return s.removeTemps(prefix)
}

// removeTemps removes unfinished files with a prefix.
func (s *Sink) removeTemps(prefix string) error {
	all, err := os.ReadDir(s.logs) // not a glob: the path may have brackets
	if err != nil {
		return err
	}
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), tempSuffix) {
			continue
		}
		if err := os.Remove(filepath.Join(s.logs, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// refuseOthers returns an error if another writer has its log in the same directory. Both would
// write the same names, and readers would find every record twice.
func (s *Sink) refuseOthers(name string) error {
	all, err := os.ReadDir(filepath.Dir(s.logs))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range all {
		if e.IsDir() && e.Name() != name {
			return fmt.Errorf("belongs to the writer %q, this one is %q: use another directory for each writer", e.Name(), name)
		}
	}
	return nil
}

// refuseStrays returns an error if there are chunks without a log: they would be treated as
// leftovers and removed.
func (s *Sink) refuseStrays() error {
	return s.eachChunk(func(dir string, _ output.Name, file string, temp bool) error {
		if temp {
			return nil
		}
		return fmt.Errorf("holds %s but no commit log for it: restore %s, or name another directory",
			s.below(dir, file), filepath.Join(output.CommitsDir, filepath.Base(s.logs)))
	})
}

// eachChunk calls do for every file that has the name of a chunk. It skips folders that are
// separate outputs.
func (s *Sink) eachChunk(do func(dir string, n output.Name, file string, temp bool) error) error {
	return filepath.WalkDir(s.out, func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed after it was listed
			return nil
		case err != nil:
			return err
		case d.IsDir() && at != s.out && (strings.ContainsAny(d.Name()[:1], "._") || hasLog(at)):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if n, _, temp, ok := parseFile(d.Name()); ok {
			return do(filepath.Dir(at), n, d.Name(), temp)
		}
		return nil
	})
}

// hasLog reports whether a directory is an output.
func hasLog(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, output.CommitsDir))
	return err == nil && info.IsDir()
}

// parseFile parses the name of a finished or temporary file.
func parseFile(file string) (n output.Name, ext string, temp, ok bool) {
	if s, dot := strings.CutPrefix(file, "."); dot {
		if s, temp = strings.CutSuffix(s, tempSuffix); !temp {
			return n, "", false, false
		}
		file = s
	}
	n, ext, ok = output.ParseName(file)
	return n, ext, temp, ok
}

func tempName(file string) string { return "." + file + tempSuffix }

// below returns the path of a file in dir relative to the output directory.
func (s *Sink) below(dir, file string) string {
	full := filepath.Join(dir, file)
	if rel, err := filepath.Rel(s.out, full); err == nil {
		return rel
	}
	return full
}

// OpenPartition implements output.Sink.
func (s *Sink) OpenPartition(p int, created time.Time) (output.Partition, []output.Ref, error) {
	lock, err := vfs.Default.Lock(filepath.Join(s.logs, fmt.Sprintf("part-%03d.lock", p)))
	if IsHeld(err) {
		return nil, nil, s.held(p, created)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("lock partition %d of %s: %w", p, s.out, err)
	}
	s.writeOwner(p, created)
	refs, err := s.recover(p, output.CreatedStamp(created))
	if err != nil {
		_ = lock.Close()
		return nil, nil, fmt.Errorf("recover partition %d of %s: %w", p, s.out, err)
	}
	return &partition{sink: s, lock: lock}, refs, nil
}

// IsHeld reports whether err says that another process or handle holds a lock.
func IsHeld(err error) bool {
	if err == nil {
		return false
	}
	s := err.Error()
	return strings.Contains(s, "lock held by current process") || strings.Contains(s, "resource temporarily unavailable") ||
		strings.Contains(s, "being used by another process")
}

// recover removes unfinished and uncommitted files, and lists the log.
func (s *Sink) recover(p int, epoch string) ([]output.Ref, error) {
	refs, err := s.list(p, func(n output.Name) bool { return n.Last == 0 })
	if err != nil {
		return nil, err
	}
	refs = output.Unmerged(refs)
	if err := os.RemoveAll(s.staging(p)); err != nil {
		return nil, err
	}
	if hasObjects, err := output.EndsWithObjects(s, refs); err != nil || hasObjects {
		return refs, errors.Join(err, syncDir(s.logs))
	}
	err = s.removeUncommitted(refs, func(n output.Name, temp bool) bool {
		return n.Partition == p && n.Last == 0 && (temp || n.StreamCreated == epoch)
	})
	if err != nil {
		return nil, err
	}
	// The previous owner may have been killed between a rename and its sync.
	return refs, syncDir(s.logs)
}

// removeUncommitted removes the chunks, finished or not, for which isOurs is true and that no entry
// names.
func (s *Sink) removeUncommitted(refs []output.Ref, isOurs func(n output.Name, temp bool) bool) error {
	committed := make(map[output.Name]bool, len(refs))
	for _, r := range refs {
		committed[r.Name] = true
	}
	return s.eachChunk(func(dir string, n output.Name, file string, temp bool) error {
		if !isOurs(n, temp) || !temp && committed[n] {
			return nil
		}
		s.log.Info("removing a chunk that was not committed", "file", s.below(dir, file))
		return os.Remove(filepath.Join(dir, file))
	})
}

// List implements output.Log.
func (s *Sink) List(p int) ([]output.Ref, error) {
	refs, err := s.ListAll(p)
	return output.Live(refs), err
}

// list returns all entries of a partition, or of all partitions if p is negative. It removes
// unfinished entries for which isOurs is true.
func (s *Sink) list(p int, isOurs func(output.Name) bool) ([]output.Ref, error) {
	all, err := os.ReadDir(s.logs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var refs []output.Ref
	for _, e := range all {
		n, ext, temp, ok := parseFile(e.Name())
		switch {
		case !ok || ext != output.EntryExt || p >= 0 && n.Partition != p:
		case !temp:
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			refs = append(refs, output.Ref{Name: n, Stamp: stampOf(info)})
		case isOurs(n):
			if err := os.Remove(filepath.Join(s.logs, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	output.SortRefs(refs)
	return refs, nil
}

func stampOf(info os.FileInfo) string {
	return strconv.FormatInt(info.Size(), 36) + "." + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}

// Read implements output.Log.
func (s *Sink) Read(r output.Ref) (*output.Commit, error) {
	file := filepath.Join(s.logs, r.Name.String()+"."+output.EntryExt)
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read commit: %w", err)
	}
	c, err := output.DecodeCommit(r.Name, text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w (restore it from a copy; if it is removed, its records are written again)", output.ErrCorrupt, file, err)
	}
	return c, nil
}

// Open implements output.Log.
func (s *Sink) Open(f output.File) (io.ReadCloser, error) {
	return os.Open(filepath.Join(s.out, filepath.FromSlash(f.Path)))
}

// partition is a partition of a Sink.
type partition struct {
	sink *Sink
	lock io.Closer
}

// Read implements output.Partition.
func (p *partition) Read(r output.Ref) (*output.Commit, error) { return p.sink.Read(r) }

// Close implements output.Partition.
func (p *partition) Close() error { return p.lock.Close() }

// Commit implements output.Partition.
func (p *partition) Commit(c *output.Commit) (output.Ref, error) {
	text, err := c.Encode()
	if err != nil {
		return output.Ref{}, err
	}
	s, file := p.sink, c.Name().String()+"."+output.EntryExt
	temp, final := filepath.Join(s.logs, tempName(file)), filepath.Join(s.logs, file)
	if err := writeSynced(temp, text); err != nil {
		_ = os.Remove(temp)
		return output.Ref{}, fmt.Errorf("write commit: %w", err)
	}
	if err := s.hook.At(output.StepEntrySynced); err != nil {
		return output.Ref{}, err
	}
	if err := rename(temp, final); err != nil {
		_ = os.Remove(temp)
		return output.Ref{}, fmt.Errorf("commit: %w", err)
	}
	if err := s.hook.At(output.StepEntryRenamed); err != nil {
		return output.Ref{}, err
	}
	if err := syncDir(s.logs); err != nil {
		return output.Ref{}, fmt.Errorf("commit: %w", err)
	}
	info, err := os.Stat(final)
	if err != nil {
		return output.Ref{}, fmt.Errorf("commit: %w", err)
	}
	return output.Ref{Name: c.Name(), Stamp: stampOf(info)}, nil
}

// Create implements output.Partition.
func (p *partition) Create(n output.Name, g output.Group, ext string) (output.Chunk, error) {
	dir := filepath.Join(p.sink.out, filepath.FromSlash(g.Dir))
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("make directory of crawl %s: %w", g.Crawl, err)
	}
	file := n.String() + "." + ext
	f, err := os.OpenFile(filepath.Join(dir, tempName(file)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("begin chunk: %w", err)
	}
	return &chunk{Content: output.NewContent(f, p.sink.hook), group: g, dir: dir, file: file, f: f}, nil
}

// chunk is a chunk of a Sink.
type chunk struct {
	output.Content
	group     output.Group
	dir, file string
	f         *os.File
}

// Finish implements output.Chunk.
func (c *chunk) Finish() (output.File, error) {
	if err := errors.Join(c.f.Sync(), c.f.Close()); err != nil {
		return output.File{}, fmt.Errorf("finish chunk: %w", err)
	}
	if err := c.Hook.At(output.StepSynced); err != nil {
		return output.File{}, err
	}
	if err := rename(filepath.Join(c.dir, tempName(c.file)), filepath.Join(c.dir, c.file)); err != nil {
		return output.File{}, fmt.Errorf("finish chunk: %w", err)
	}
	if err := c.Hook.At(output.StepRenamed); err != nil {
		return output.File{}, err
	}
	if err := syncDir(c.dir); err != nil {
		return output.File{}, fmt.Errorf("finish chunk: %w", err)
	}
	return c.File(path.Join(c.group.Dir, c.file), c.group), c.Hook.At(output.StepFinished)
}

// Abandon implements output.Chunk. It keeps a finished chunk: its entry may be in the log even if
// writing the entry returned an error.
func (c *chunk) Abandon() {
	_ = c.f.Close()
	_ = os.Remove(filepath.Join(c.dir, tempName(c.file)))
}

// rename is os.Rename, but refuses to replace a file. The check is not atomic, since the caller
// holds the lock of the partition.
func rename(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s: %w", to, output.ErrExists)
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

// makeDir creates a directory and its parents durably.
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

var (
	_ output.Sink      = (*Sink)(nil)
	_ output.Log       = (*Sink)(nil)
	_ output.Partition = (*partition)(nil)
	_ output.Chunk     = (*chunk)(nil)
)
