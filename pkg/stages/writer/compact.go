package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"slices"
	"sync/atomic"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/bucket"
	"seine/internal/output/format"
)

// Limits of one merged entry. They determine where merges begin: if two processes merge at the same
// time, with logs of different length, all messages of one merge are in one of the other process's
// merges, or in none.
const (
	mergedBytes   = 256 << 20 // of records, before compression
	mergedRecords = 1 << 20
)

// CompactOptions define which output is compacted.
type CompactOptions struct {
	Out  string // a directory, or s3://BUCKET/PREFIX
	Name string // of the writer; empty for the only one in the output
	S3   bucket.Options
	Log  *slog.Logger

	hook  output.Hook
	bytes int64 // replaces mergedBytes in tests
}

// CompactTotals count the files that Compact handled.
type CompactTotals struct {
	Merged int // files that were merged and removed
	Made   int // files that replace them
	Left   int // other files
	Bytes  int64
}

// Compact merges the small files of an output. Consecutive entries of the log are replaced by one
// merged entry, which names files with the same records: storing it is the commit, and it is one
// file or object like every entry. The records keep their order; those of Parquet are sorted by URL
// in each row group. Then the merged files are removed. The entries stay in the log for the owners
// of partitions, so a writer may run meanwhile. Compact does not merge encrypted files, archives,
// objects, and entries with deleted files.
func Compact(ctx context.Context, o CompactOptions) (CompactTotals, error) {
	if IsDatabase(o.Out) {
		return CompactTotals{}, fmt.Errorf("%s: is a database, which has no files to merge", Redact(o.Out))
	}
	from, err := OpenOutput(o.Out, o.Name, o.S3)
	if err != nil {
		return CompactTotals{}, err
	}
	temp, err := os.MkdirTemp("", "seine-compact-")
	if err != nil {
		return CompactTotals{}, fmt.Errorf("create a temporary directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	refs, err := from.List(-1)
	if err != nil || len(refs) == 0 {
		return CompactTotals{}, err
	}
	sink, err := openSink(&Config{OutputConfig: OutputConfig{Out: o.Out, S3: o.S3}, Name: from.Name(), State: temp}, o.Log, o.hook)
	if err != nil {
		return CompactTotals{}, err
	}
	place, ok := sink.(output.Merger)
	if !ok {
		return CompactTotals{}, fmt.Errorf("%s: has no files to merge", o.Out)
	}
	c := &compaction{CompactOptions: o, from: from, deletions: from.Deletions(""), place: place, live: make(map[string]bool)}
	for _, same := range byPartition(refs) {
		if err := c.partition(ctx, same[0].Partition); err != nil {
			return c.totals, err
		}
	}
	if err := c.tidy(); err != nil {
		return c.totals, err
	}
	return c.totals, storeManifests(sink, from.Name(), temp)
}

// compaction is one run of Compact.
type compaction struct {
	CompactOptions
	from      output.Output
	deletions *output.Deletions
	place     output.Merger
	merges    []output.Name   // committed ones
	live      map[string]bool // paths of their files
	totals    CompactTotals
}

// partition merges the entries of one partition.
func (c *compaction) partition(ctx context.Context, p int) (err error) {
	to, refs, err := c.place.OpenMerge(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	var run []*output.Commit
	for _, r := range output.Live(refs) {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, err := to.Read(r)
		if err != nil {
			return err
		}
		deleted, err := c.deletions.Affect(next)
		if err != nil {
			return err
		}
		if len(run) > 0 && (deleted || !c.continues(run, next)) {
			if err := c.merge(ctx, to, run); err != nil {
				return err
			}
			run = nil
		}
		if deleted { // its other files also stay as they are
			c.keep(next)
			c.totals.Left += len(next.Files)
			continue
		}
		run = append(run, next)
	}
	return c.merge(ctx, to, run)
}

// continues reports whether an entry is merged with those before it. It does not depend on earlier
// merges: a merge has the size of the entries that it replaces.
func (c *compaction) continues(run []*output.Commit, next *output.Commit) bool {
	first, records, bytes := run[0], next.Records(), rawBytesOf(next)
	for _, e := range run {
		records, bytes = records+e.Records(), bytes+rawBytesOf(e)
	}
	return first.Created.Equal(next.Created) && first.Incarnation == next.Incarnation && first.Partitions == next.Partitions &&
		records <= mergedRecords && bytes <= cmp.Or(c.bytes, mergedBytes) &&
		isMergeable(first) && isMergeable(next) && same(first.Exported, next.Exported) && same(first.Form, next.Form)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func rawBytesOf(c *output.Commit) (n int64) {
	for i := range c.Files {
		n += c.Files[i].RawBytes
	}
	return n
}

// isMergeable reports whether all files of an entry can be read, and rewritten under their names.
func isMergeable(c *output.Commit) bool {
	return !slices.ContainsFunc(c.Files, func(f output.File) bool {
		return !output.IsChunk(f.Path) || f.IndexOf != "" || ageencrypt.Is(f.Path) || format.IsArchive(f.Path)
	})
}

// part is the set of files that become one file: those of a group, in one format.
type part struct {
	partKey
	files []*output.File
}

type partKey struct {
	group  output.Group
	format string
}

func keyOf(f *output.File) partKey {
	key := partKey{output.Group{Crawl: f.Crawl, Dir: path.Dir(f.Path)}, format.NameOf(f.Path)}
	if format.HasColumns(key.format) {
		key.group.Kind = f.Kind
	}
	return key
}

// partsOf groups the files of some entries by the file that they become, in order.
func partsOf(run []*output.Commit) (parts []*part, files int) {
	index := make(map[partKey]*part)
	for _, e := range run {
		for i := range e.Files {
			f := &e.Files[i]
			key := keyOf(f)
			if index[key] == nil {
				index[key] = &part{partKey: key}
				parts = append(parts, index[key])
			}
			index[key].files = append(index[key].files, f)
			files++
		}
	}
	return parts, files
}

// merge commits the merge of some entries and removes their files, unless it would not reduce the
// number of files.
func (c *compaction) merge(ctx context.Context, to output.Partition, run []*output.Commit) error {
	parts, files := partsOf(run)
	if len(run) < 2 || len(parts) == files {
		for _, e := range run {
			c.keep(e)
		}
		c.totals.Left += files
		return nil
	}
	made := *run[0]
	made.Merged, made.Visits, made.Replaced, made.Files = true, nil, 0, nil
	made.LastSeq, made.Stored = run[len(run)-1].LastSeq, run[len(run)-1].Stored
	for _, p := range parts {
		f, err := c.write(ctx, to, &made, p)
		if err != nil {
			return fmt.Errorf("merge %s: %w", made.Name(), err)
		}
		made.Files = append(made.Files, f)
		c.totals.Bytes += f.Bytes
	}
	if _, err := to.Commit(&made); err != nil {
		return fmt.Errorf("merge %s: %w", made.Name(), err)
	}
	c.totals.Merged, c.totals.Made = c.totals.Merged+files, c.totals.Made+len(parts)
	c.keep(&made)
	return errors.Join(c.hook.At(output.StepCommitted), c.remove(run))
}

// write makes one file from the records of several.
func (c *compaction) write(ctx context.Context, to output.Partition, made *output.Commit, p *part) (output.File, error) {
	var columns []format.Column
	for _, f := range p.files {
		columns = format.Union(columns, format.ColumnsNamed(f.Columns))
	}
	bom, err := format.HasByteOrderMark(c.from, p.files[0])
	if err != nil {
		return output.File{}, err
	}
	form, _ := format.New(p.format, format.Options{CSVBOM: bom, SortedByURL: true, Columns: func(string, string) ([]format.Column, error) { return columns, nil }})
	var open atomic.Int64
	files := newFileSet(&fileLayout{format: form}, to, made.Name(), &open, made.Created)
	defer files.abandon()
	var raw int64
	for _, f := range p.files {
		raw += f.RawBytes
		err := format.ReadFile(c.from, f, ageencrypt.Identities{}, func(line []byte) error {
			_, err := files.append(p.group, &format.Record{Kind: kindOf(f, line), Data: line})
			return errors.Join(err, ctx.Err())
		})
		if err != nil {
			return output.File{}, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	all, err := files.finish()
	if err != nil {
		return output.File{}, err
	}
	all[0].RawBytes = raw // the total of the parts, since it determines later merges
	return all[0], nil
}

// keep records an entry that stays valid.
func (c *compaction) keep(e *output.Commit) {
	if !e.Merged {
		return
	}
	c.merges = append(c.merges, e.Name())
	for i := range e.Files {
		c.live[e.Files[i].Path] = true
	}
}

// remove removes the files of merged entries.
func (c *compaction) remove(run []*output.Commit) error {
	for _, e := range run {
		for i := range e.Files {
			if err := c.place.Remove(e.Files[i].Path); err != nil {
				return fmt.Errorf("remove a merged file: %w", err)
			}
			if err := c.hook.At(output.StepRemoved); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidy removes the leftovers of killed processes: chunks of entries that a merge replaces, or that
// another attempt of a merge has made. No entry will ever name them.
func (c *compaction) tidy() error {
	lister, ok := c.place.(output.Lister)
	if !ok || len(c.merges) == 0 {
		return nil
	}
	var left []string
	err := lister.Files(func(file string, err error) error {
		n, _, isChunk := output.ParseName(path.Base(file))
		if err == nil && isChunk && !c.live[file] && slices.ContainsFunc(c.merges, func(m output.Name) bool { return m == n || m.Covers(n) }) {
			left = append(left, file)
		}
		return err
	})
	for _, file := range left {
		err = errors.Join(err, c.place.Remove(file))
	}
	if err != nil {
		return fmt.Errorf("remove merged files: %w", err)
	}
	return nil
}
