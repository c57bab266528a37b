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

// mostRetried bounds the failed URLs of each class that a resumed crawl retries.
const mostRetried = 10_000

// retriable returns queries for failures that a resumed crawl retries. A missing secret may be set
// now, a new spec may meet the site's requirements, and a rejected secret may have a new value.
func (c failureRetry) retriable() (all []failures.Query) {
	add := func(class messages.Class, texts ...string) {
		for _, text := range texts {
			all = append(all, failures.Query{Crawl: c.Crawl, Class: string(class), Text: text, Look: mostRetried, Keep: mostRetried})
		}
	}
	add(messages.Misconfigured, "")
	switch {
	case c.newAccess:
		for _, class := range []messages.Class{messages.ClientError, messages.ProxyFailure, messages.TooLarge} {
			add(class, "")
		}
	case c.usesSecrets:
		add(messages.ClientError, "401 Unauthorized", "rendering: the login", "wants a login right after")
		add(messages.ProxyFailure, "answered 407")
	}
	return all
}

// changesAccess reports whether spec changes, in the format of specchange, may make a failed
// request succeed. Changed limits of the crawl do not.
func changesAccess(changes []string) bool {
	return slices.ContainsFunc(changes, func(line string) bool {
		_, key, _ := strings.Cut(line, " ")
		return !slices.ContainsFunc([]string{"max_pages", "max_bytes", "max_duration", "max_depth"}, func(size string) bool { return strings.HasPrefix(key, size) })
	})
}

// failureRetry publishes failed URLs as seeds.
type failureRetry struct{ *crawl }

// run retries URLs that failed in earlier runs and may succeed now. It reports whether there are
// any.
func (c failureRetry) run(ctx context.Context, n *frontierapi.Counters) bool {
	p := seeds.NewPublisher(ctx, stages.NewPublisher(c.bus, "crawl"), c.Crawl, nil)
	failed, more := 0, false
	var err error
	for _, q := range c.retriable() {
		if n.FailedBy[q.Class] > 0 {
			found, finding := failures.Find(ctx, c.bus, q)
			if finding != nil {
				err = errors.Join(err, finding)
				continue
			}
			failed, more = failed+found.Matched, more || found.Partial
			err = errors.Join(err, addFailed(found, p))
		}
	}
	if err := errors.Join(err, p.Flush()); err != nil {
		c.Log.Warn("cannot retry the URLs that failed", "crawl", c.Crawl, "error", err)
	}
	if p.Fed == 0 {
		return false
	}
	if more || p.Fed < failed {
		c.Log.Warn("URLs that failed are retried, but not all; seine seed --failures-of retries the others", "crawl", c.Crawl, "urls", p.Fed)
	} else {
		c.Log.Warn("URLs that failed are retried", "crawl", c.Crawl, "urls", p.Fed)
	}
	return true
}

// addFailed publishes failed URLs as seeds.
func addFailed(found *failures.Found, p *seeds.Publisher) error {
	for i := range found.URLs {
		if err := p.Add(messages.Seed{URL: found.URLs[i].URL}); err != nil {
			return err
		}
	}
	return nil
}
