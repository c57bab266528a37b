package crawl

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"seine/internal/run/specchange"
	"seine/pkg/crawlspec"
)

// storeSpec applies the options to the crawl's stored spec and stores the result.
func (c *crawl) storeSpec(ctx context.Context) (*crawlspec.Spec, error) {
	have, err := c.specs.Get(ctx, c.Crawl, 0)
	if err != nil {
		return nil, err
	}
	spec, err := c.Spec(*have.Spec)
	if err != nil {
		return nil, err
	}
	if have.Rev > 0 && len(c.Seeds) > 0 {
		c.Log.Info("the crawl continues, with the URLs of this command added; --crawl NAME or another --data begins another", "crawl", c.Crawl)
		c.logKept(spec)
	}
	if blocked := have.Blocked(); blocked != nil {
		// An unreadable spec must not be replaced by the default that stands in for it.
		if own, err := c.Spec(crawlspec.Default()); err != nil || !bytes.Equal(own.Encode(), spec.Encode()) {
			return nil, fmt.Errorf("crawl %s: %w (give it one with --spec)", c.Crawl, blocked)
		}
	}
	if spec.MayRender() {
		if err := c.Browser.Check(); err != nil {
			return nil, fmt.Errorf("crawl %s: its spec wants pages rendered, but %w", c.Crawl, err)
		}
	}
	c.usesSecrets = len(spec.Secrets()) > 0
	spec.Again = max(spec.Again, have.Again) // a file never revokes an earlier --again
	if c.specRev, err = c.specs.History.Replace(ctx, c.Crawl, spec, have); err == nil && have.Rev > 0 && c.specRev != have.Rev {
		c.logSpecChange(have.Spec, spec)
	}
	return spec, err
}

// logSpecChange warns about changes that this command makes to the stored spec, which another
// command may have changed meanwhile. It also warns that new record rules do not apply to pages
// parsed before.
func (c *crawl) logSpecChange(have, now *crawlspec.Spec) {
	lines := specchange.Lines(have.Shown(), now.Shown())
	if len(lines) == 0 {
		return
	}
	c.newAccess = changesAccess(lines)
	c.Log.Warn("this command changes the stored spec of the crawl; seine crawl without --spec and flags keeps it", "crawl", c.Crawl,
		"change", strings.Join(lines[:min(len(lines), mostChanges)], ", "), "changes", len(lines))
	if slices.ContainsFunc(lines, func(line string) bool {
		_, key, _ := strings.Cut(line, " ")
		return strings.HasPrefix(key, "page.") || strings.HasPrefix(key, "records")
	}) {
		c.Log.Warn("the rules for records have changed; pages parsed before keep their records: "+
			"--again visits them again, seine replay parse parses the stored pages again", "crawl", c.Crawl)
	}
}

// mostChanges bounds the number of spec changes in a log line.
const mostChanges = 10

// logKept warns about keys of the stored spec that this command does not set.
func (c *crawl) logKept(spec *crawlspec.Spec) {
	said, err := c.Spec(crawlspec.Default())
	if err != nil {
		return // the options need the stored spec
	}
	var kept []string
	for _, line := range specchange.Lines(said.Shown(), spec.Shown()) {
		if key, ok := strings.CutPrefix(line, "+ "); ok {
			kept = append(kept, key)
		}
	}
	if len(kept) > 0 {
		c.Log.Warn("the crawl keeps keys of its stored spec", "crawl", c.Crawl, "kept", strings.Join(kept[:min(len(kept), mostChanges)], ", "))
	}
}

// spec returns the current spec of the crawl, which other commands may change while it runs.
func (c *crawl) spec(ctx context.Context) (*crawlspec.Spec, error) {
	r, err := c.specs.Get(ctx, c.Crawl, c.specRev)
	return r.Spec, err
}
