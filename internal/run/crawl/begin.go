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

// beginIfKnown starts or continues the crawl. If the command has no URLs and the crawl is not
// listed, the crawl begins only after the frontier reports that it knows the crawl. Otherwise a
// misspelt name would be stored as a new crawl.
func (c *crawl) beginIfKnown(ctx context.Context) error {
	have, err := c.specs.Get(ctx, c.Crawl, 0)
	if err != nil {
		return err
	}
	spec, err := c.Spec(*have.Spec)
	if err != nil || len(c.Seeds) > 0 || have.Rev > 0 || len(spec.Seeds) > 0 { // c.begin reports an invalid spec
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
	c.since, c.unknown = now.Since(), noSuchCrawl(c.Crawl, names)
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

// beginOrRefuse begins an unlisted crawl if the frontier knows its URLs. It returns c.unknown if
// the frontier knows none.
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

// noSuchCrawl returns an error that names the missing crawl and lists the existing ones.
func noSuchCrawl(name string, names []string) error {
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

// publishSeeds stores the spec and publishes the seeds. The frontier ignores seeds that it knows,
// so the same command resumes a crawl.
func (c *crawl) publishSeeds(ctx context.Context) error {
	spec, err := c.storeSpec(ctx)
	for errors.Is(err, stages.ErrRevision) && sleep.For(ctx, specPoll) == nil { // another command changed the spec first
		spec, err = c.storeSpec(ctx)
	}
	if err != nil {
		return err
	}
	for _, text := range spec.Ineffective() {
		c.Log.Warn("a key of the spec has no effect", "crawl", c.Crawl, "key", text)
	}
	if !c.Again { // with Again, visitAgain publishes them
		if err := c.feedSeeds(ctx); err != nil {
			return err
		}
	}
	now, err := c.specs.GetSure(ctx, c.Crawl)
	if err == nil && now.Since() > c.specRev {
		// An earlier crawl of this name and its spec were deleted meanwhile (crawlspec.Spec.Keep).
		// The seeds then belong to a new crawl, whose spec another command may have stored already.
		rev, perr := c.specs.History.PutAt(ctx, c.Crawl, spec, 0)
		c.specRev = max(rev, now.Rev)
		if !errors.Is(perr, stages.ErrRevision) {
			err = perr
		}
	}
	c.since = now.Since()
	return err
}
