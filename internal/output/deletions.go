package output

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"
)

// Deletions distinguishes missing files whose crawl had its output deleted from files that were lost. Files count as deleted
// if all remaining files of the crawl are newer, since it may have begun again under its name, or if it has none left and
// other crawls have some. It is safe for concurrent use.
type Deletions struct {
	paths func() (map[string]bool, error)

	mu   sync.Mutex
	left map[string]bool // crawls of files that were left out
}

// Deletions returns those of a crawl, or of all if crawl is empty. It looks for them when the first file is missing.
func (o Output) Deletions(crawl string) *Deletions {
	return &Deletions{paths: sync.OnceValues(func() (map[string]bool, error) { return o.deleted(crawl) }), left: make(map[string]bool)}
}

// LeaveOut returns the error of reading a file, or nil if the file was deleted.
func (d *Deletions) LeaveOut(f *File, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	deleted, finding := d.paths()
	if finding != nil || !deleted[f.Path] {
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

// Crawls returns the crawls of files that were left out, sorted.
func (d *Deletions) Crawls() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.left))
}

// deleted returns the paths of the deleted files, none if nothing is there: then the place is wrong.
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
	crawls := e.deletedCrawls(there)
	for path, same := range e.files {
		deleted[path] = some && !there[path] && slices.Contains(crawls, same[len(same)-1].Crawl)
	}
	return deleted, err
}

// deletedCrawls returns the crawls whose missing files are older than those that are there.
func (e *Expected) deletedCrawls(there map[string]bool) (crawls []string) {
	newest, oldest := make(map[string]time.Time), make(map[string]time.Time) // of what is missing, and of what is there
	for path, same := range e.files {
		last := same[len(same)-1]
		switch crawl, at := last.Crawl, last.stored; {
		case !e.has(crawl):
		case !there[path] && !at.Before(newest[crawl]):
			newest[crawl] = at
		case there[path] && (oldest[crawl].IsZero() || at.Before(oldest[crawl])):
			oldest[crawl] = at
		}
	}
	for crawl, at := range newest {
		if first, some := oldest[crawl]; !some || at.Before(first) {
			crawls = append(crawls, crawl)
		}
	}
	slices.Sort(crawls)
	return crawls
}
