package crawl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"seine/internal/base/sleep"
	"seine/internal/base/suggest"
	"seine/internal/ops/overview"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// beginIfKnown begins the crawl, or continues with it. One that is given no URL, of a name that
// is in no list, is begun only when the frontier, which runs then, is found to know it: a name
// that is a slip would stay among the crawls.
func (c *crawl) beginIfKnown(ctx context.Context) error {
	have, err := c.specs.Get(ctx, c.Crawl, 0)
	if err != nil {
		return err
	}
	spec, err := c.Spec(*have.Spec)
	if err != nil || len(c.Seeds) > 0 || have.Rev > 0 || len(spec.Seeds) > 0 { // or it says what is wrong
		return c.begin(ctx)
	}
	names, err := overview.Names(ctx, c.bus)
	if err != nil {
		return err
	}
	if slices.Contains(names, c.Crawl) {
		return c.begin(ctx)
	}
	if c.Unnamed && len(names) == 1 {
		c.Log.Warn("no crawl is named: resuming the only one", "crawl", names[0])
		c.Crawl = names[0]
		return c.begin(ctx)
	}
	now, err := c.specs.GetSure(ctx, c.Crawl)
	c.since, c.unknown = now.Since(), nothingOf(c.Crawl, names)
	return err
}

// begin remembers where the crawl writes, stores its spec and publishes its seeds.
func (c *crawl) begin(ctx context.Context) error {
	if err := c.Opened(); err != nil {
		return err
	}
	close(c.begun)
	return c.publishSeeds(ctx)
}

// beginOrRefuse begins a crawl of an unlisted name once the frontier is found to know it, and
// reports when it does not.
func (c *crawl) beginOrRefuse(ctx context.Context, end frontierapi.EndReason, now *frontierapi.Counters) error {
	switch {
	case now.Known() > 0:
		c.unknown = nil
		return c.begin(ctx)
	case end == frontierapi.Empty:
		return c.unknown
	}
	return nil
}

// nothingOf says that there is no crawl of a name, and which there are.
func nothingOf(name string, names []string) error {
	const most = 10
	others := ""
	if near := suggest.Name(name, names); near != "" {
		others = ", did you mean " + near + "?"
	}
	switch {
	case len(names) == 1:
		others = ": for the only crawl, add --crawl " + names[0]
	case len(names) > 1:
		others += " (there are " + strings.Join(names[:min(len(names), most)], ", ") + ")"
	}
	return fmt.Errorf("%w: no crawl %s%s", ErrNothingToDo, name, others)
}

// publishSeeds stores the spec and publishes the seeds. Seeds that the frontier knows
// are no news to it, so a crawl is resumed by the same command.
func (c *crawl) publishSeeds(ctx context.Context) error {
	spec, err := c.storeSpec(ctx)
	for errors.Is(err, stages.ErrRevision) && sleep.For(ctx, specPoll) == nil { // another command was faster
		spec, err = c.storeSpec(ctx)
	}
	if err != nil {
		return err
	}
	for _, text := range spec.Ineffective() {
		c.Log.Warn("a key of the spec has no effect", "crawl", c.Crawl, "key", text)
	}
	if !c.Again { // or they come when it is known whether the crawl has ended
		if err := c.feedSeeds(ctx); err != nil {
			return err
		}
	}
	now, err := c.specs.GetSure(ctx, c.Crawl)
	if err == nil && now.Since() > c.specRev {
		// An earlier crawl of the name was deleted meanwhile, with the spec: see crawlspec.Spec.Keep. Those seeds are of a new one
		// then, whose spec another command may have stored.
		rev, perr := c.specs.History.PutAt(ctx, c.Crawl, spec, 0)
		c.specRev = max(rev, now.Rev)
		if !errors.Is(perr, stages.ErrRevision) {
			err = perr
		}
	}
	c.since = now.Since()
	return err
}
