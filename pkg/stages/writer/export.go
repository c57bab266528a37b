package writer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"seine/internal/output"
	"seine/internal/output/ageencrypt"
	"seine/internal/output/bucket"
	"seine/internal/output/format"
	"seine/pkg/messages"
)

// exportName is the name of an export in the log of its target. Writers may not use it.
const exportName = "export"

// ExportOptions define the source, the target and the filter of an export.
type ExportOptions struct {
	From       string // an output: a directory, or s3://BUCKET/PREFIX
	FromS3     bucket.Options
	Identities ageencrypt.Identities // to decrypt it with, if it is encrypted
	Filter     output.Filter
	To         OutputConfig
	// Progress, if set, is called after each commit.
	Progress func(ExportTotals)
	Log      *slog.Logger

	hook output.Hook
}

// ExportTotals count the commits and files of an export.
type ExportTotals struct {
	Commits int // of the source
	Done    int // of them, by this run
	Before  int // of them, by earlier runs
	Records int64
	Files   int64
	Bytes   int64
}

// Export writes the committed output of one place to another, in another form. Each entry of the
// source's log becomes one with the same name in the target's, by the commit protocol of the
// package comment. So it can be killed at any moment, and committed entries of the target are never
// written again. It returns when all entries that it found at the start are exported. A commit has
// as many records as that of the source, so with objects it may have more than a writer's.
func Export(ctx context.Context, o ExportOptions) (ExportTotals, error) {
	x, err := o.open()
	if err != nil {
		return ExportTotals{}, err
	}
	defer func() { _ = os.RemoveAll(x.temp) }()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, refs := range byPartition(x.refs) {
		g.Go(func() error { return x.partition(gctx, refs) })
	}
	err = g.Wait()
	for _, crawl := range x.deletions.Crawls() {
		o.Log.Warn("files that are missing, as after a deletion, are left out", "crawl", crawl)
	}
	if x.totals.Done > 0 {
		err = errors.Join(err, storeManifests(x.sink, exportName, x.temp))
	}
	return x.totals, err
}

// export is one run of Export.
type export struct {
	ExportOptions
	form   *fileLayout
	source output.Output
	sink   output.Sink
	refs   []output.Ref // of the source
	temp   string
	// latest returns which entries count for objects that were replaced.
	latest    func() (*output.Expected, error)
	deletions *output.Deletions
	open      atomic.Int64

	mu     sync.Mutex
	totals ExportTotals

	inferring sync.Mutex
	inferred  map[output.Group][]format.Column // by crawl and kind
}

func (o ExportOptions) open() (*export, error) {
	if err := o.checkPlaces(); err != nil {
		return nil, err
	}
	x := &export{ExportOptions: o}
	f, err := newFileLayout(&o.To, x.columns)
	if err != nil {
		return nil, err
	}
	source, err := OpenOutput(o.From, "", o.FromS3)
	if err != nil {
		return nil, err
	}
	refs, err := source.List(-1)
	if err != nil {
		return nil, fmt.Errorf("read commits of %s: %w", o.From, err)
	}
	if err := checkReadable(source, refs, o.From); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "seine-export-")
	if err != nil {
		return nil, fmt.Errorf("create a temporary directory: %w", err)
	}
	sink, err := openSink(&Config{OutputConfig: o.To, Name: exportName, State: temp}, o.Log, o.hook)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(temp))
	}
	x.form, x.source, x.sink, x.refs, x.temp = f.fit(sink), source, sink, refs, temp
	if err := x.checkForm(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(temp))
	}
	x.latest = sync.OnceValues(func() (*output.Expected, error) { return source.ExpectWhole("") })
	x.deletions = source.Deletions(o.Filter.Crawl)
	x.totals.Commits = len(refs)
	return x, nil
}

// checkReadable returns an error if the source's files have no readable records, like those of an
// archive. It checks the first file, before the target is created.
func checkReadable(source output.Output, refs []output.Ref, from string) error {
	for _, r := range refs {
		c, err := source.Read(r)
		if err != nil || len(c.Files) == 0 {
			continue // the error is reported when the entry is exported
		}
		if err := format.CheckReadable(ageencrypt.PlainName(c.Files[0].Path)); err != nil && len(c.Files[0].Columns) == 0 {
			return fmt.Errorf("%s: %s: %w", from, c.Files[0].Path, err)
		}
		return nil
	}
	return nil
}

// checkPlaces refuses databases, and a target that is the source, is inside it, or contains it.
func (o *ExportOptions) checkPlaces() error {
	if IsDatabase(o.From) || IsDatabase(o.To.Out) {
		return errors.New("an export copies files to files: export a database with its own tools (COPY, .dump), or fill it from the stream by another writer")
	}
	from, to := o.From, o.To.Out
	if !bucket.Is(from) && !bucket.Is(to) {
		var err error
		if from, err = filepath.Abs(from); err != nil {
			return err
		}
		if to, err = filepath.Abs(to); err != nil {
			return err
		}
	}
	within := func(a, b string) bool {
		return strings.HasPrefix(strings.TrimRight(a, "/")+"/", strings.TrimRight(b, "/")+"/")
	}
	if within(from, to) || within(to, from) {
		return fmt.Errorf("--to %s: is the source, or one contains the other: name another directory", o.To.Out)
	}
	return nil
}

func byPartition(refs []output.Ref) [][]output.Ref {
	var all [][]output.Ref
	for i, r := range refs { // refs are in order
		if i == 0 || r.Partition != refs[i-1].Partition {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], r)
	}
	return all
}

// partition exports the entries of one partition, in order.
func (x *export) partition(ctx context.Context, refs []output.Ref) (err error) {
	var to exportTarget
	defer func() { err = errors.Join(err, to.close()) }()
	for _, r := range refs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c, err := x.source.Read(r)
		if err != nil {
			return err
		}
		if err := x.enter(&to, c); err != nil {
			return err
		}
		before, err := x.before(&to, c)
		if err != nil {
			return err
		}
		if before >= c.LastSeq {
			x.count(func(t *ExportTotals) { t.Before++ })
			continue
		}
		if err := x.commit(to.Partition, c, before); err != nil {
			return fmt.Errorf("export %s: %w", c.Name(), err)
		}
	}
	return nil
}

// exportTarget is an open partition of the target.
type exportTarget struct {
	output.Partition
	epoch string
	refs  []output.Ref
}

func (t *exportTarget) close() error {
	if t.Partition == nil {
		return nil
	}
	return t.Close()
}

// enter opens the target for the incarnation of the stream in c.
func (x *export) enter(t *exportTarget, c *output.Commit) error {
	epoch := output.CreatedStamp(c.Created)
	if t.Partition != nil && t.epoch == epoch {
		return nil
	}
	if err := t.close(); err != nil {
		return err
	}
	p, refs, err := x.sink.OpenPartition(c.Partition, c.Created)
	if errors.Is(err, output.ErrHeld) || errors.Is(err, output.ErrInUse) {
		return fmt.Errorf("--to %s: another export is running there: wait until it ends", x.To.Out)
	}
	if err != nil {
		return err
	}
	t.Partition, t.epoch, t.refs = p, epoch, refs
	return nil
}

// before returns the last message of the target from the stream of c up to the end of c, 0 if there
// is none. If c is a merge, that may be in the middle of it. It returns an error if an entry of the
// target differs from what this export would write.
func (x *export) before(t *exportTarget, c *output.Commit) (uint64, error) {
	i := len(t.refs) - 1
	for ; i >= 0; i-- {
		if r := t.refs[i]; r.StreamCreated == t.epoch && r.Incarnation == c.Incarnation && r.First <= c.LastSeq {
			break
		}
	}
	if i < 0 {
		return 0, nil
	}
	have, err := t.Read(t.refs[i])
	switch {
	case err != nil:
		return 0, err
	case !have.Created.Equal(c.Created) || !c.Merged && have.LastSeq != c.LastSeq && have.LastSeq >= c.FirstSeq:
		return 0, fmt.Errorf("--to %s: has an export of another output with an entry %s: name another directory", x.To.Out, t.refs[i].Name)
	case have.Exported == nil || *have.Exported != x.Filter:
		return 0, fmt.Errorf("--to %s: has an export of %s, this one is of %s: name another directory", x.To.Out, describe(have.Exported), describe(&x.Filter))
	}
	return have.LastSeq, nil
}

// exported returns, for each merged file, the number of its records whose messages are at most
// before. These come first, since records are in order.
func (x *export) exported(c *output.Commit, before uint64) (map[partKey]int, error) {
	records := make(map[partKey]int)
	all, ok := x.source.Log.(output.Merger)
	if before < c.FirstSeq || !ok {
		return records, nil
	}
	refs, err := all.ListAll(c.Partition)
	if err != nil {
		return nil, err
	}
	for _, r := range output.Unmerged(refs) {
		if !c.Name().Covers(r.Name) || r.First > before {
			continue
		}
		e, err := x.source.Read(r)
		if err != nil {
			return nil, err
		}
		for i := range e.Files {
			records[keyOf(&e.Files[i])] += e.Files[i].Records
		}
	}
	return records, nil
}

func describe(f *output.Filter) string {
	switch {
	case f == nil || *f == output.Filter{}:
		return "everything"
	case f.Kind == "":
		return "the crawl " + f.Crawl
	case f.Crawl == "":
		return "the kind " + f.Kind
	}
	return fmt.Sprintf("the kind %s of the crawl %s", f.Kind, f.Crawl)
}

// commit exports the records of one entry whose messages are after before.
func (x *export) commit(to output.Partition, c *output.Commit, before uint64) error {
	made := &output.Commit{
		Partition: c.Partition, Created: c.Created, Incarnation: c.Incarnation, FirstSeq: max(c.FirstSeq, before+1), LastSeq: c.LastSeq, Stored: c.Stored,
		Exported: &x.Filter, Form: formOf(&x.To),
	}
	files := newFileSet(x.form, to, made.Name(), &x.open, c.Created)
	defer files.abandon()
	exported, err := x.exported(c, before)
	if err != nil {
		return err
	}
	for _, f := range c.Files {
		wanted, err := x.wants(c, &f)
		if err != nil {
			return err
		}
		if !wanted {
			continue
		}
		if err := x.deletions.LeaveOut(&f, x.copyFile(files, c, &f, exported[keyOf(&f)])); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	if err := files.fill(made); err != nil {
		return err
	}
	if _, err := to.Commit(made); err != nil {
		return err
	}
	if err := x.hook.At(output.StepCommitted); err != nil {
		return err
	}
	x.count(func(t *ExportTotals) {
		t.Done++
		t.Records += int64(made.Records())
		t.Files += int64(len(made.Files))
		for _, f := range made.Files {
			t.Bytes += f.Bytes
		}
	})
	return nil
}

func (x *export) count(do func(*ExportTotals)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	do(&x.totals)
	if x.Progress != nil {
		x.Progress(x.totals)
	}
}

// wants reports whether a file may have records to export, and exists: an object may have been
// replaced since.
func (x *export) wants(c *output.Commit, f *output.File) (bool, error) {
	if f.IndexOf != "" || x.Filter.Crawl != "" && f.Crawl != x.Filter.Crawl {
		return false, nil
	}
	if kind := x.Filter.Kind; kind != "" && (f.Kind != "" && f.Kind != kind || f.Kinds != nil && f.Kinds[kind] == 0) {
		return false, nil
	}
	if output.IsChunk(f.Path) {
		return true, nil
	}
	latest, err := x.latest()
	if err != nil {
		return false, err
	}
	return latest.Counts(f.Path, c.Name()), nil
}

// kindOf returns the kind of a record in a file.
func kindOf(f *output.File, line []byte) string {
	if f.Kind != "" {
		return f.Kind
	}
	return messages.RecordKind(nil, line)
}

// copyFile adds the wanted records of a file, after skipping the first exported ones.
func (x *export) copyFile(to *fileSet, c *output.Commit, f *output.File, exported int) error {
	return format.ReadFile(x.source, f, x.Identities, func(line []byte) error {
		if exported--; exported >= 0 {
			return nil
		}
		rec := &format.Record{Kind: kindOf(f, line), Stored: c.Stored, Data: line}
		if x.Filter.Kind != "" && rec.Kind != x.Filter.Kind {
			return nil
		}
		// The record's own sequence is unknown; only the order matters.
		err := to.add(x.form.group(f.Crawl, rec, c.Partition), rec, c.FirstSeq+uint64(to.records))
		return errors.Join(err, x.hook.At(output.StepAppended))
	})
}

// storeManifests stores the manifests of a destination.
func storeManifests(sink output.Sink, name, temp string) error {
	log, hasLog := sink.(output.Log)
	store, keeps := sink.(output.ManifestStore)
	if !hasLog || !keeps {
		return nil
	}
	made, err := output.NewManifests(log, name, temp)
	if err != nil {
		return err
	}
	defer made.Close()
	if err := made.Update(func() error { return nil }); err != nil {
		return err
	}
	for _, crawl := range made.Crawls() {
		if err := made.Store(store, crawl, false); err != nil {
			return err
		}
	}
	return nil
}
