package writer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
	"seine/pkg/stages"
)

// specColumns provides the columns of tables that the specs define.
type specColumns struct{ *Writer }

// follow keeps the specs of crawls up to date for a format with columns or a database with views,
// until stop is called. lists is nil for a destination without manifests.
func (c specColumns) follow(ctx context.Context, lists *manifests) (stop func(), err error) {
	if c.cfg.From == sqlsink.FromResults {
		c.columnsOf = func(string, string, uint64) ([]format.Column, error) { return format.ResultColumns(), nil }
		return func() {}, nil
	}
	views := IsDatabase(c.cfg.Out) && c.cfg.From == sqlsink.FromRecords
	if !format.HasColumns(c.cfg.Format) && !views {
		return func() {}, nil
	}
	specs, stop, err := stages.FollowSpecs(ctx, c.bus)
	if err != nil {
		return nil, err
	}
	switch {
	case views:
		c.columnsOf = viewColumnsBy(ctx, specs)
	case lists != nil:
		s := schema{w: c.Writer, bySpec: columnsBy(ctx, specs), seen: make(map[output.Group][]format.Column)}
		s.update = func() (map[string][]format.Column, error) { return lists.columns(ctx.Err) }
		c.columnsOf = s.of
	}
	return stop, nil
}

// of returns the columns of chunks. It must not be called before follow.
func (c specColumns) of(crawl, kind string, rev uint64) ([]format.Column, error) {
	return c.columnsOf(crawl, kind, rev)
}

// columnsFunc returns the columns for the records of a crawl and a kind, by the crawl's spec at a
// revision or a later one.
type columnsFunc func(crawl, kind string, rev uint64) ([]format.Column, error)

// begun returns the columns for new chunks, whose records are not known yet.
func (f columnsFunc) begun() func(crawl, kind string) ([]format.Column, error) {
	return func(crawl, kind string) ([]format.Column, error) { return f(crawl, kind, 0) }
}

// columnsBy returns the columns of chunks by the current specs of their crawls when a chunk begins.
// Records of another revision may have others: fields without a column are kept in format.More. It
// waits for an unavailable server until ctx is done.
func columnsBy(ctx context.Context, specs *stages.Specs) columnsFunc {
	return func(crawl, kind string, rev uint64) ([]format.Column, error) {
		spec, err := specs.Get(ctx, crawl, rev)
		if err != nil {
			return nil, err
		}
		return format.ColumnsOf(spec.Spec, kind), nil
	}
}

// schema holds the columns of each kind for an output: those of its spec, joined with those of all
// files of the kind. So a reader of many files finds one type for a column. It is safe for
// concurrent use.
type schema struct {
	w      *Writer
	bySpec columnsFunc
	update func() (map[string][]format.Column, error) // the columns of all files, by kind

	mu    sync.Mutex
	seen  map[output.Group][]format.Column // by crawl and kind: the columns of its spec that were joined
	kinds map[string][]format.Column
}

// of implements columnsFunc. It reads the commit log if the columns of a kind of a crawl differ
// from the last time.
func (s *schema) of(crawl, kind string, rev uint64) ([]format.Column, error) {
	declared, err := s.bySpec(crawl, kind, rev)
	if err != nil {
		return nil, err
	}
	declared = format.WithHost(declared)
	s.mu.Lock()
	defer s.mu.Unlock()
	of := output.Group{Crawl: crawl, Kind: kind}
	if seen, ok := s.seen[of]; ok && slices.Equal(seen, declared) {
		return s.kinds[kind], nil
	}
	written, err := s.update()
	if err != nil {
		return nil, fmt.Errorf("read the columns of earlier files: %w", err)
	}
	if s.kinds == nil {
		s.kinds = written
	}
	all := format.Union(format.Union(s.kinds[kind], written[kind]), declared)
	for _, c := range declared {
		if !slices.Contains(all, c) {
			i := slices.IndexFunc(all, func(o format.Column) bool { return o.Name == c.Name })
			s.w.log.Warn("column keeps a type that fits its earlier files: write to another output for the type of the spec",
				"crawl", crawl, "kind", kind, "column", c.Name, "type", all[i].String(), "spec", c.String())
		}
	}
	s.seen[of], s.kinds[kind] = declared, all
	return all, nil
}

// specTime bounds how long the records of a database wait for the spec with the columns of their
// view.
const specTime = 10 * time.Second

// viewColumnsBy returns the columns of views. It is called when records are committed, and so also
// after the end of ctx.
func viewColumnsBy(ctx context.Context, specs *stages.Specs) columnsFunc {
	return func(crawl, kind string, rev uint64) ([]format.Column, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), specTime)
		defer cancel()
		return columnsBy(ctx, specs)(crawl, kind, rev)
	}
}
