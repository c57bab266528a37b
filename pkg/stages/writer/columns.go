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

// specColumns are the columns of tables that the specs name.
type specColumns struct{ *Writer }

// follow sees to it that a format with columns, and a database with views, knows the
// specs of the crawls, until stop is called. Lists is nil for a place without manifests.
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

// of returns the columns of chunks. It is not called before follow.
func (c specColumns) of(crawl, kind string, rev uint64) ([]format.Column, error) {
	return c.columnsOf(crawl, kind, rev)
}

// columnsFunc returns the columns of the records of a crawl and a kind, by a spec that is
// no older than a revision.
type columnsFunc func(crawl, kind string, rev uint64) ([]format.Column, error)

// begun returns the columns for chunks that begin, of whose records none is known yet.
func (f columnsFunc) begun() func(crawl, kind string) ([]format.Column, error) {
	return func(crawl, kind string) ([]format.Column, error) { return f(crawl, kind, 0) }
}

// columnsBy returns the columns of chunks, by the specs of their crawls as they are
// when a chunk begins. Records of another revision may have others: what the
// columns lack is kept in format.More. It waits for a server that is away until
// ctx is done.
func columnsBy(ctx context.Context, specs *stages.Specs) columnsFunc {
	return func(crawl, kind string, rev uint64) ([]format.Column, error) {
		spec, err := specs.Get(ctx, crawl, rev)
		if err != nil {
			return nil, err
		}
		return format.ColumnsOf(spec.Spec, kind), nil
	}
}

// schema is the columns of each kind over an output: those of its spec, joined with those of all files of the kind. So
// a reader of many files finds one type for a column. It is safe for concurrent use.
type schema struct {
	w      *Writer
	bySpec columnsFunc
	update func() (map[string][]format.Column, error) // the columns of all files, by kind

	mu    sync.Mutex
	seen  map[output.Group][]format.Column // by crawl and kind: those of its spec that were joined
	kinds map[string][]format.Column
}

// of implements columnsFunc. The commit log is read when a kind of a crawl has other columns than the last time.
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
			s.w.log.Warn("a column has the type that fits its earlier files as well: write to another output to have that of the spec",
				"crawl", crawl, "kind", kind, "column", c.Name, "type", all[i].String(), "spec", c.String())
		}
	}
	s.seen[of], s.kinds[kind] = declared, all
	return all, nil
}

// specTime bounds how long the records of a database wait for the spec that says what
// their view has.
const specTime = 10 * time.Second

// viewColumnsBy returns the columns of views. It is asked when records are committed, and
// so after the end of ctx, too.
func viewColumnsBy(ctx context.Context, specs *stages.Specs) columnsFunc {
	return func(crawl, kind string, rev uint64) ([]format.Column, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), specTime)
		defer cancel()
		return columnsBy(ctx, specs)(crawl, kind, rev)
	}
}
