package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"seine/internal/base/jsontext"
)

// Deletions distinguishes missing files whose crawl's output was deleted from files that were lost.
// Files count as deleted if the output records that (RecordDeletions). They also count as deleted
// if other files exist, but none of the same crawl and stream incarnation. It is safe for
// concurrent use.
type Deletions struct {
	paths func() (map[string]bool, error)

	mu   sync.Mutex
	left map[string]bool // crawls of the files that were skipped
}

// Deletions returns the deletions of a crawl, or of all crawls if crawl is empty. It searches for
// them when the first file is missing.
func (o Output) Deletions(crawl string) *Deletions {
	return &Deletions{paths: sync.OnceValues(func() (map[string]bool, error) { return o.deleted(crawl) }), left: make(map[string]bool)}
}

// LeaveOut returns err, an error of reading a file, or nil if the file was deleted.
func (d *Deletions) LeaveOut(f *File, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	deleted, finding := d.paths()
	if finding != nil || !deleted[f.Path] {
		err = fmt.Errorf("%w (if you deleted the output of crawl %s, run seine verify --deleted %[2]s once)", err, f.Crawl)
		return errors.Join(err, finding)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left[f.Crawl] = true
	return nil
}

// Affect reports whether a file of an entry was deleted.
func (d *Deletions) Affect(c *Commit) (bool, error) {
	deleted, err := d.paths()
	return slices.ContainsFunc(c.Files, func(f File) bool { return deleted[f.Path] }), err
}

// Crawls returns the crawls of the files that were skipped, sorted.
func (d *Deletions) Crawls() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.left))
}

// deleted returns the paths of the deleted files. It returns none if no file exists: then the
// destination is wrong.
func (o Output) deleted(crawl string) (map[string]bool, error) {
	lister, ok := o.Log.(Lister)
	if !ok {
		return nil, nil
	}
	e, err := o.Expect(crawl)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool)
	some := false
	err = lister.Files(func(file string, err error) error {
		there[file] = true
		some = some || slices.ContainsFunc(e.files[file], func(f expectedFile) bool { return e.has(f.Crawl) })
		return err
	})
	deleted := make(map[string]bool)
	gone := e.withoutFiles(there)
	for path, same := range e.files {
		last := same[len(same)-1]
		deleted[path] = !there[path] && (e.isDeleted(&last) || some && gone[last.life()])
	}
	return deleted, err
}

// streamLife is a crawl in one incarnation of a stream.
type streamLife struct {
	crawl, created string
	incarnation    int
}

func (f *expectedFile) life() streamLife {
	return streamLife{f.Crawl, f.from.StreamCreated, f.from.Incarnation}
}

// withoutFiles returns the crawls and incarnations that have no file left, although no deletion is
// recorded.
func (e *Expected) withoutFiles(there map[string]bool) map[streamLife]bool {
	lost := make(map[streamLife]bool)
	for path, same := range e.files {
		if last := same[len(same)-1]; e.selects(last.Crawl) && !there[path] && !e.isDeleted(&last) {
			lost[last.life()] = true
		}
	}
	for path, same := range e.files {
		if there[path] {
			delete(lost, same[len(same)-1].life())
		}
	}
	return lost
}

// isDeleted reports whether a file may be missing: because the deletion of its crawl is recorded,
// or because the caller named the crawl.
func (e *Expected) isDeleted(f *expectedFile) bool {
	return slices.Contains(e.deleted, f.Crawl) || !f.stored.After(e.deletedAt[f.Crawl])
}

// deletionsPath is the path of the file that records when crawls were deleted. Names of crawls have
// no dots, so it is not a crawl's.
func deletionsPath(writer string) string { return ManifestPath(writer, "deleted.crawls") }

// RecordDeletions records that crawls were deleted, so that their files committed until now may be
// missing.
func (o Output) RecordDeletions(crawls []string) error {
	at, ok := o.Log.(ManifestPlace)
	if !ok || len(crawls) == 0 {
		return nil
	}
	all, err := deletionsAt(at)
	if err != nil {
		return err
	}
	for _, crawl := range crawls {
		all[crawl] = time.Now().UTC()
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return at.PutManifest(deletionsPath(at.WriterName()), bytes.NewReader(append(text, '\n')))
}

// deletionsAt returns the recorded times of deletions, by crawl.
func deletionsAt(at ManifestPlace) (all map[string]time.Time, err error) {
	all = make(map[string]time.Time)
	f, err := at.GetManifest(deletionsPath(at.WriterName()))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err == nil {
		err = jsontext.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", deletionsPath(at.WriterName()), err)
	}
	return all, nil
}
