package overview

import (
	"context"

	"golang.org/x/sync/errgroup"

	"seine/pkg/stages"
)

// Crawls returns how some crawls stand, in the order of their names. What cannot be known of one is its
// Problem. It asks about those alone, however many there are.
func Crawls(ctx context.Context, bus *stages.Bus, names ...string) ([]Crawl, error) {
	specs, err := stages.OpenSpecs(ctx, bus)
	if err != nil {
		return nil, err
	}
	r, all := Reader{Bus: bus}, make([]Crawl, len(names))
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
	return all, g.Wait()
}
