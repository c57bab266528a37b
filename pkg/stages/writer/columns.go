package writer

import (
	"context"

	"seine/internal/output/format"
	"seine/internal/output/rows"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// followSpecs sees to it that a format with columns, and a database with views, knows the
// specs of the crawls, until stop is called.
func (w *Writer) followSpecs(ctx context.Context) (stop func(), err error) {
	views := IsDatabase(w.cfg.Out) && w.cfg.From == rows.FromRecords
	if !format.HasColumns(w.cfg.Format) && !views {
		return func() {}, nil
	}
	specs, stop, err := stages.FollowSpecs(ctx, w.bus)
	if err != nil {
		return nil, err
	}
	of := format.ColumnsOf
	if views {
		of = rows.ColumnsOf
	}
	w.columnsOf = columnsBy(ctx, specs, of)
	return stop, nil
}

// columns returns the columns of chunks. It is not called before followSpecs.
func (w *Writer) columns(crawl, kind string) ([]format.Column, error) {
	return w.columnsOf(crawl, kind)
}

// columnsBy returns the columns of chunks, by the specs of their crawls as they are
// when a chunk begins. Records of another revision may have others: what the
// columns lack is kept in format.More. It waits for a server that is away until
// ctx is done.
func columnsBy(ctx context.Context, specs *stages.Specs, of func(*crawlspec.Spec, string) []format.Column) func(crawl, kind string) ([]format.Column, error) {
	return func(crawl, kind string) ([]format.Column, error) {
		spec, err := specs.Get(ctx, crawl, 0)
		if err != nil {
			return nil, err
		}
		return of(spec.Spec, kind), nil
	}
}
