package dir

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"seine/internal/output"
)

// syncs is the number of files synced at a time: a disk syncs several in about the time of one.
const syncs = 8

// objects are files of one record each.
//
// They are created below _tmp, synced, and renamed to their paths, where they replace existing
// files. Then their folders are synced. All of that happens before the entry that names them. So
// after a crash an object can exist whose record is not committed. That is correct: its message is
// not acknowledged, so the next owner reads it and stores the same object at the same path. The
// other order would be wrong, since an entry would name a missing file. Removing such an object
// would be wrong too, since the object that it replaced is gone.
//
// The next owner may commit after fewer messages than the previous one. If two of those messages
// have one path, the older object returns until the newer one is committed.
//
// No former owner can still write: the lock of a partition ends with its process.
type objects struct {
	sink   *Sink
	dir    string // directory of objects in progress
	n      int
	staged map[string]stagedObject // by path
}

type stagedObject struct {
	temp string
	file output.File
}

// staging returns the folder of the objects of p in progress.
func (s *Sink) staging(p int) string {
	return filepath.Join(s.out, output.TempDir, filepath.Base(s.logs), fmt.Sprintf("part-%03d", p))
}

// Objects implements output.ObjectPartition.
func (p *partition) Objects(n output.Name) (output.Objects, error) {
	dir := p.sink.staging(n.Partition)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("begin objects: %w", err)
	}
	return &objects{sink: p.sink, dir: dir, staged: make(map[string]stagedObject)}, nil
}

// Put implements output.Objects.
func (o *objects) Put(obj output.Object, write func(io.Writer) error) error {
	o.n++
	temp := filepath.Join(o.dir, strconv.Itoa(o.n)+tempSuffix)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("begin object: %w", err)
	}
	w := output.NewContent(f, o.sink.hook)
	if err := errors.Join(write(&w), f.Close()); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("write object: %w", err)
	}
	if before, ok := o.staged[obj.Path]; ok {
		_ = os.Remove(before.temp)
	}
	made := w.File(obj.Path, output.Group{Crawl: obj.Crawl, Kind: obj.Kind})
	made.Records, made.RawBytes = 1, obj.RawBytes
	o.staged[obj.Path] = stagedObject{temp, made}
	return nil
}

// Finish implements output.Objects.
func (o *objects) Finish() ([]output.File, error) {
	paths := slices.Sorted(maps.Keys(o.staged))
	temps := make([]string, len(paths))
	var dirs []string
	for i, p := range paths {
		temps[i] = o.staged[p].temp
		dirs = append(dirs, filepath.Dir(o.objectPath(p)))
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	if err := errors.Join(each(temps, syncFile), each(dirs, makeDir)); err != nil {
		return nil, fmt.Errorf("finish objects: %w", err)
	}
	if err := o.sink.hook.At(output.StepSynced); err != nil {
		return nil, err
	}
	files := make([]output.File, 0, len(paths))
	for _, p := range paths {
		if err := os.Rename(o.staged[p].temp, o.objectPath(p)); err != nil {
			return nil, fmt.Errorf("finish object: %w", err)
		}
		files = append(files, o.staged[p].file)
		if err := o.sink.hook.At(output.StepRenamed); err != nil {
			return nil, err
		}
	}
	if err := each(dirs, syncDir); err != nil {
		return nil, fmt.Errorf("finish objects: %w", err)
	}
	return files, o.sink.hook.At(output.StepFinished)
}

func (o *objects) objectPath(path string) string {
	return filepath.Join(o.sink.out, filepath.FromSlash(path))
}

// each calls do for every name, syncs of them at a time.
func each(names []string, do func(string) error) error {
	var g errgroup.Group
	g.SetLimit(syncs)
	for _, n := range names {
		g.Go(func() error { return do(n) })
	}
	return g.Wait()
}

// Abandon implements output.Objects.
func (o *objects) Abandon() {
	for _, s := range o.staged {
		_ = os.Remove(s.temp)
	}
	clear(o.staged)
}

// syncFile makes the content of a closed file durable.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// FoldsCase reports whether the directory treats "A" and "a" as one name.
func (s *Sink) FoldsCase() bool { return s.foldsCase }

var (
	_ output.ObjectPartition = (*partition)(nil)
	_ output.Objects         = (*objects)(nil)
)
