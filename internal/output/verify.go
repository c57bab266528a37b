package output

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/internal/base/tally"
	"seine/internal/output/ageencrypt"
)

// Expected is the expected content of a destination, according to its commit log or a manifest.
type Expected struct {
	files map[string][]expectedFile
	ends  map[streamKey]uint64 // last sequence of each stream; nil if unknown
	// wrong has the problems that do not depend on the files.
	wrong   []Problem
	entries map[Name]bool // all readable entries
	unread  map[Name]bool // unreadable entries
	merges  []Name        // the entries that are merges
	Commits int
	crawl   string   // the only crawl to check, unless empty
	deleted []string // crawls whose missing files are ignored
	// deletedAt are the recorded times of deletions: missing files that a crawl committed before
	// them are ignored.
	deletedAt map[string]time.Time
	folders   map[string]bool // built on first use
}

// expectedFile is the description of a path in the last entry of a partition that names it.
type expectedFile struct {
	File
	from   Name
	stored time.Time // of the entry
}

// Problem is an inconsistency that Check found.
type Problem struct {
	Kind ProblemKind
	Path string // path of a file, or name of an entry
	Why  error
}

// ProblemKind is the kind of a problem.
type ProblemKind string

// Kinds of problems.
const (
	Missing    ProblemKind = "missing"    // a file does not exist
	Changed    ProblemKind = "changed"    // a file differs from the committed one
	Surplus    ProblemKind = "surplus"    // a file belongs to no commit
	Order      ProblemKind = "order"      // two entries have the same messages
	Unreadable ProblemKind = "unreadable" // a file, a folder or an entry cannot be read
)

// Error returns the problem in one line.
func (p Problem) Error() string { return fmt.Sprintf("%s: %s: %v", p.Kind, p.Path, p.Why) }

// Unwrap returns the reason.
func (p Problem) Unwrap() error { return p.Why }

// Report is the result of Check.
type Report struct {
	Commits int
	Files   int
	Records int64
	Bytes   int64
	Pending int // finished chunks that are not committed yet
	// Merging counts chunks that a merge has replaced, or made without committing them. They do not
	// count, and the next merge removes them.
	Merging int
	// Decrypted counts decrypted copies beside their encrypted files. They are not checked, since
	// nothing describes them.
	Decrypted int
	// Removed counts missing files of crawls that are known to be deleted, by crawl. AsDeleted are
	// crawls whose files are missing as after a deletion: see Deletions.
	Removed   map[string]int64
	AsDeleted []string
	Problems  []Problem
}

func newExpected() *Expected {
	return &Expected{files: make(map[string][]expectedFile), ends: make(map[streamKey]uint64), entries: make(map[Name]bool), unread: make(map[Name]bool)}
}

// Expect returns the expected content according to the commit log, of one crawl, or of all if crawl
// is empty. An unreadable entry becomes a problem in Check's report. The error is from listing the
// log.
func (o Output) Expect(crawl string) (*Expected, error) {
	e := newExpected()
	e.crawl = crawl
	if at, ok := o.Log.(ManifestPlace); ok {
		var err error
		if e.deletedAt, err = deletionsAt(at); err != nil {
			return nil, err
		}
	}
	err := o.eachCommit(func(c *Commit) error {
		e.follow(c.Name(), c.FirstSeq, c.LastSeq)
		for _, f := range c.Files {
			e.add(f, c.Name(), c.Stored)
		}
		return nil
	}, func(r Ref, err error) error {
		e.Commits++
		e.unread[r.Name] = true
		e.wrong = append(e.wrong, Problem{Unreadable, r.Name.String(), err})
		return nil
	})
	return e, err
}

// SkipDeleted makes Check ignore the missing files of these crawls.
func (e *Expected) SkipDeleted(crawls []string) { e.deleted = crawls }

// selects reports whether a crawl is checked.
func (e *Expected) selects(crawl string) bool { return e.crawl == "" || e.crawl == crawl }

// has reports whether missing files of a crawl are reported.
func (e *Expected) has(crawl string) bool {
	return e.selects(crawl) && !slices.Contains(e.deleted, crawl)
}

// ManifestPlace is a destination that keeps manifests beside the log of a writer.
type ManifestPlace interface {
	ManifestStore
	// WriterName returns the writer of the log.
	WriterName() string
}

// ExpectManifested adds the entries that stored manifests have and the log lacks: a log that lost
// its last entries, and their files, looks complete by itself. It reads the manifests of the crawls
// that the log names. It skips an unreadable manifest, which is only a copy.
func (o Output) ExpectManifested(e *Expected) {
	at, ok := o.Log.(ManifestPlace)
	if !ok {
		return
	}
	for _, crawl := range e.Crawls() {
		head, ok := storedHead(at, at.WriterName(), crawl)
		if !ok || !e.has(crawl) {
			continue
		}
		for _, s := range head.Streams {
			for _, c := range s.Commits {
				n, _, ok := ParseName(c.Name + ".x")
				if ok && !e.entries[n] && !e.unread[n] && !e.merged(n) {
					e.wrong = append(e.wrong, Problem{Missing, c.Name, fmt.Errorf("%s has this entry with %d records, and the commit log has not", ManifestPath(at.WriterName(), crawl), c.Records)})
					e.entries[n] = true // it may be of several crawls
				}
			}
		}
	}
}

// Crawls returns the crawls that have files, sorted.
func (e *Expected) Crawls() []string {
	names := make(map[string]bool)
	for _, same := range e.files {
		for i := range same {
			names[same[i].Crawl] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// ExpectWhole is Expect for a log that must be complete: an unreadable entry is an error, since it
// may name a later file of some path.
func (o Output) ExpectWhole(crawl string) (*Expected, error) {
	e, err := o.Expect(crawl)
	if err == nil && len(e.unread) > 0 {
		err = e.wrong[slices.IndexFunc(e.wrong, func(p Problem) bool { return p.Kind == Unreadable })]
	}
	return e, err
}

// Expect returns the expected content according to the manifest.
func (m *Manifest) Expect() (*Expected, error) {
	e := newExpected()
	stored := make(map[Name]time.Time)
	for _, s := range m.Streams {
		for _, c := range s.Commits {
			n, _, ok := ParseName(c.Name + ".x")
			if !ok {
				return nil, fmt.Errorf("read manifest: %q is not the name of a commit", c.Name)
			}
			stored[n] = c.Stored
			e.follow(n, c.FirstSeq, c.LastSeq)
		}
	}
	e.ends = nil // later messages are not in it
	for _, f := range m.Files {
		n, _, ok := ParseName(f.Commit + ".x")
		if !ok {
			return nil, fmt.Errorf("read manifest: file %q belongs to no commit", f.Path)
		}
		e.add(f.File, n, stored[n])
	}
	return e, nil
}

// follow records an entry, which must follow the previous one.
func (e *Expected) follow(n Name, first, last uint64) {
	e.Commits++
	e.entries[n] = true
	if n.Last > 0 {
		e.merges = append(e.merges, n)
	}
	key := n.stream()
	if before := e.ends[key]; first <= before {
		e.wrong = append(e.wrong, Problem{Order, n.String(), fmt.Errorf("begins at message %d, the entry before ends with %d", first, before)})
	}
	e.ends[key] = max(e.ends[key], last)
}

// add records a file. If several entries of a partition name it, the last one counts.
func (e *Expected) add(f File, from Name, stored time.Time) {
	have := e.files[f.Path]
	same := func(x expectedFile) bool { return x.from.Partition == from.Partition }
	if i := slices.IndexFunc(have, same); i >= 0 {
		if from.Compare(have[i].from) > 0 {
			have[i] = expectedFile{f, from, stored}
		}
		return
	}
	e.files[f.Path] = append(have, expectedFile{f, from, stored})
}

// Counts reports whether from is the last entry that names path. Otherwise its object was replaced.
func (e *Expected) Counts(path string, from Name) bool {
	all := e.files[path]
	return len(all) > 0 && all[len(all)-1].from == from
}

// checks is the number of files read at a time.
const checks = 4

// Check compares the files with the expected content. If ctx ends or the destination cannot be
// listed, the report covers what was checked until then. Files and folders that cannot be read are
// problems in the report.
func (o Output) Check(ctx context.Context, e *Expected) (Report, error) {
	if own, ok := o.Log.(Verifier); ok {
		return o.checkBy(ctx, own, e)
	}
	r := Report{Problems: slices.Clone(e.wrong), Commits: e.Commits}
	there := make(map[string]bool) // files that exist
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(checks)
	for file, want := range e.files {
		if ctx.Err() != nil {
			break
		}
		last := want[len(want)-1]
		if !e.selects(last.Crawl) {
			continue
		}
		g.Go(func() error {
			problem, err := o.check(want)
			mu.Lock()
			defer mu.Unlock()
			if problem == Missing && e.isDeleted(&last) {
				tally.Add(&r.Removed, last.Crawl, 1)
				return nil
			}
			there[file] = problem != Missing
			r.Files++
			r.Bytes += last.Bytes
			r.Records += int64(last.Records)
			if problem != "" {
				r.Problems = append(r.Problems, Problem{problem, file, err})
			}
			return nil
		})
	}
	err := cmp.Or(g.Wait(), ctx.Err())
	if lister, ok := o.Log.(Lister); ok && err == nil {
		err = lister.Files(func(file string, err error) error {
			if err != nil {
				r.Problems = append(r.Problems, Problem{Unreadable, file, err})
			} else {
				e.known(file, &r)
			}
			return ctx.Err()
		})
	}
	for life := range e.withoutFiles(there) {
		r.AsDeleted = append(r.AsDeleted, life.crawl)
	}
	slices.Sort(r.AsDeleted)
	r.AsDeleted = slices.Compact(r.AsDeleted)
	slices.SortFunc(r.Problems, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path)) })
	return r, err
}

// checkBy makes the log check its commits itself.
func (o Output) checkBy(ctx context.Context, own Verifier, e *Expected) (r Report, err error) {
	check := func(c *Commit) error {
		r.Commits++
		deleted := 0
		for _, f := range c.Files {
			if e.has(f.Crawl) {
				r.Records += int64(f.Records)
				r.Bytes += f.Bytes
			} else if slices.Contains(e.deleted, f.Crawl) {
				deleted += f.Records
			}
		}
		if err := own.VerifyCommit(c, deleted); err != nil {
			r.Problems = append(r.Problems, Problem{Changed, c.Name().String(), err})
		}
		return ctx.Err()
	}
	err = o.eachCommit(check, func(n Ref, err error) error {
		r.Commits++
		r.Problems = append(r.Problems, Problem{Unreadable, n.String(), err})
		return ctx.Err()
	})
	return r, err
}

// check reads a file and returns its problem, if any.
func (o Output) check(want []expectedFile) (ProblemKind, error) {
	f, err := o.Open(want[0].File)
	if errors.Is(err, os.ErrNotExist) {
		return Missing, err
	}
	if err != nil {
		return Unreadable, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return Unreadable, err
	}
	have := hex.EncodeToString(sum.Sum(nil))
	for _, w := range want {
		if w.SHA256 == have {
			return "", nil
		}
	}
	last := want[len(want)-1]
	switch {
	case !IsChunk(last.Path):
		return Changed, errors.New("the content differs from the commit: it was changed, or replaced by a record that is not committed yet (then the writer's next commit fixes it)")
	case n != last.Bytes:
		return Changed, fmt.Errorf("%d bytes, the commit has %d", n, last.Bytes)
	}
	return Changed, errors.New("the content differs from the commit")
}

// known records a file that no entry names.
func (e *Expected) known(file string, r *Report) {
	if len(e.files[file]) > 0 {
		return
	}
	if len(e.files[file+ageencrypt.Ext]) > 0 {
		r.Decrypted++
		return
	}
	n, _, isChunk := ParseName(path.Base(file))
	if isChunk && e.unread[n] {
		return // its entry is reported
	}
	if isChunk && e.ends != nil && (n.Last > 0 || e.merged(n)) {
		r.Merging++
		return
	}
	if isChunk && e.ends != nil && n.First > e.ends[n.stream()] {
		r.Pending++
		return
	}
	why := errNoEntry
	if len(e.unread) > 0 {
		why = errNoReadable
	}
	if e.ends == nil {
		if !e.hasFolderOf(file) {
			return // of another crawl
		}
		why = errNotListed
	}
	r.Problems = append(r.Problems, Problem{Surplus, file, why})
}

// merged reports whether a merge replaces an entry.
func (e *Expected) merged(n Name) bool {
	return slices.ContainsFunc(e.merges, func(m Name) bool { return m.Covers(n) })
}

var (
	errNoEntry    = errors.New("no entry of the commit log lists it, so it is ignored")
	errNoReadable = errors.New("no readable entry of the commit log lists it")
	errNotListed  = errors.New("the manifest does not list it")
)

// hasFolderOf reports whether the folder of a file has expected files.
func (e *Expected) hasFolderOf(file string) bool {
	if e.folders == nil {
		e.folders = make(map[string]bool)
		for f := range e.files {
			e.folders[path.Dir(f)] = true
		}
	}
	return e.folders[path.Dir(file)]
}
