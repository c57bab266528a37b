package crawl

import (
	"context"
	"errors"
	"slices"
	"strings"

	"seine/internal/ops/failures"
	"seine/internal/ops/seeds"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// mostRetried bounds the failed URLs of a class that a run of an existing crawl retries.
const mostRetried = 10_000

// retriable are the classes of failures that a run of an existing crawl retries: a missing secret may be set now, and a new
// spec may have what the site asks for.
func retriable(newAccess bool) []messages.Class {
	if newAccess {
		return []messages.Class{messages.Misconfigured, messages.ClientError, messages.ProxyFailure, messages.TooLarge}
	}
	return []messages.Class{messages.Misconfigured}
}

// changesAccess reports whether changes of a spec, as specchange has them, may let a request succeed that failed.
// A crawl of another size does not.
func changesAccess(changes []string) bool {
	return slices.ContainsFunc(changes, func(line string) bool {
		_, key, _ := strings.Cut(line, " ")
		return !slices.ContainsFunc([]string{"max_pages", "max_bytes", "max_duration", "max_depth"}, func(size string) bool { return strings.HasPrefix(key, size) })
	})
}

// failureRetry adds failed URLs of a crawl again.
type failureRetry struct{ *crawl }

// run adds the URLs again that failed in earlier runs and may succeed now, and reports whether there are any.
func (c failureRetry) run(ctx context.Context, n *frontierapi.Counters) bool {
	p := seeds.NewPublisher(ctx, stages.NewPublisher(c.bus, "crawl"), c.Crawl, nil)
	failed := 0
	var err error
	for _, class := range retriable(c.newAccess) {
		if k := int(n.FailedBy[string(class)]); k > 0 {
			failed += k
			err = errors.Join(err, c.addClass(ctx, class, p))
		}
	}
	if err := errors.Join(err, p.Flush()); err != nil {
		c.Log.Warn("cannot retry the URLs that failed", "crawl", c.Crawl, "error", err)
	}
	if p.Fed == 0 {
		return false
	}
	if p.Fed < failed {
		c.Log.Warn("URLs that failed are retried, but not all; seine seed --failures-of retries the others", "crawl", c.Crawl, "urls", p.Fed, "failed", failed)
	} else {
		c.Log.Warn("URLs that failed are retried", "crawl", c.Crawl, "urls", p.Fed)
	}
	return true
}

// addClass adds the first URLs that failed by a class.
func (c failureRetry) addClass(ctx context.Context, class messages.Class, p *seeds.Publisher) error {
	found, err := failures.Find(ctx, c.bus, failures.Query{Crawl: c.Crawl, Class: string(class), Look: mostRetried, Keep: mostRetried})
	if err != nil {
		return err
	}
	for i := range found.URLs {
		if err := p.Add(messages.Seed{URL: found.URLs[i].URL}); err != nil {
			return err
		}
	}
	return nil
}
