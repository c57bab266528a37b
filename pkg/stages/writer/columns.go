package writer

import (
	"context"
	"time"

	"seine/internal/output/format"
	"seine/internal/output/sqlsink"
	"seine/pkg/stages"
)

// specColumns are the columns of tables that the specs name.
type specColumns struct{ *Writer }

// follow sees to it that a format with columns, and a database with views, knows the
// specs of the crawls, until stop is called.
func (c specColumns) follow(ctx context.Context) (stop func(), err error) {
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
	c.columnsOf = columnsBy(ctx, specs)
	if views {
		c.columnsOf = viewColumnsBy(ctx, specs)
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
