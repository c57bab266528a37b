package overview

import (
	"context"

	"golang.org/x/sync/errgroup"

	"seine/pkg/stages"
)

// Crawls returns how some crawls stand, in the order of their names. What cannot be known of one is its
// Problem. It asks about those alone, however many there are.
func Crawls(ctx context.Context, bus *stages.Bus, names ...string) ([]Crawl, error) {
	r := Reader{Bus: bus}
	return r.ReadNamed(ctx, names)
}

// ReadNamed does the same, and asks less the next time about crawls that have ended.
func (r *Reader) ReadNamed(ctx context.Context, names []string) ([]Crawl, error) {
	specs, err := stages.OpenSpecs(ctx, r.Bus)
	if err != nil {
		return nil, err
	}
	all := make([]Crawl, len(names))
	var g errgroup.Group
	g.SetLimit(asking)
	for i, name := range names {
		g.Go(func() error {
			all[i].Name = name
			if err := r.readCrawl(ctx, specs, &all[i]); err != nil {
				all[i].Problem = err.Error()
			}
			return nil
		})
	}
	err = g.Wait()
	r.remember(all)
	return all, err
}
