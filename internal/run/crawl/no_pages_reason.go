package crawl

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"seine/internal/base/humanize"
	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// setNoPagesReason sets r.noPagesReason for a crawl that fetched no page, or only its seeds. For no page,
// the reason is the state of the first seed or, without a known seed, of a URL that failed or was
// excluded. For seeds only, it is the rule that excluded all other URLs.
func (r report) setNoPagesReason(ctx context.Context) {
	spec, err := r.spec(ctx)
	if err != nil {
		return
	}
	seeds := append(URLsOf(r.Seeds), spec.SeedURLs()...)
	if r.last.Pages > 0 {
		if len(seeds) > 0 {
			r.noPagesReason = excludedAll(&r.last, int64(len(seeds)), spec)
		}
		if len(r.Seeds) > 0 && r.last.Pages == r.pagesBefore() {
			r.seedsWait = r.seedsAre(ctx, frontierapi.StateQueued, 1)
			if r.seedsFailed = r.seedsAre(ctx, "failed", mostSeeds); r.seedsFailed {
				r.explainURL(ctx, r.Seeds[0].URL)
			}
		}
		return
	}
	seeds = append(seeds, examples(r.reasons.Failures, r.reasons.Exclusions)...)
	if len(seeds) > 0 {
		r.explainURL(ctx, seeds[0])
	}
}

// explainURL sets r.noPagesReason to the state of a URL.
func (r report) explainURL(ctx context.Context, url string) {
	e, err := r.client.Explain(ctx, r.Crawl, url)
	if err != nil || !e.Known {
		return
	}
	if e.Class == messages.Redirect && e.State == "done" {
		r.noPagesReason = e.URL + " redirects, and no page came of that"
		if targets := examples(r.reasons.Exclusions, r.reasons.Failures); len(targets) > 0 {
			r.noPagesReason += "; see seine explain " + targets[0]
		}
		return
	}
	r.noPagesReason = e.URL + ": " + e.State
	if reason := cmp.Or(e.Reason, string(e.Class)); reason != "" {
		r.noPagesReason += ": " + cmp.Or(overview.Hints[reason], reason)
	}
	if remedy := overview.Remedies[e.Class]; remedy != "" && e.State == "failed" && !strings.HasPrefix(e.Reason, "client_error: rendering: ") {
		r.noPagesReason += ": " + remedy
	}
}

// mostSeeds bounds how many seeds are checked for failure.
const mostSeeds = 100

// seedsAre reports whether all of the first most seeds of this command have a state.
func (r report) seedsAre(ctx context.Context, state string, most int) bool {
	return !slices.ContainsFunc(r.Seeds[:min(len(r.Seeds), most)], func(s messages.Seed) bool {
		e, err := r.client.Explain(ctx, r.Crawl, s.URL)
		return err != nil || e.State != state
	})
}

// examples returns the example URLs of reasons.
func examples(reasons ...[]frontierapi.Reason) (urls []string) {
	for _, r := range slices.Concat(reasons...) {
		if r.Example != nil {
			urls = append(urls, r.Example.URL)
		}
	}
	return urls
}

// excludedAll describes the rule that excluded every URL except the seeds. It returns "" if no
// single rule did.
func excludedAll(n *frontierapi.Counters, seeds int64, spec *crawlspec.Spec) string {
	others := n.Known() - seeds
	for reason, excluded := range n.Excluded {
		if others <= 0 || excluded < others {
			continue
		}
		found := "the only URL that was found"
		if excluded > 1 {
			found = "each of the " + humanize.Count(excluded) + " URLs that were found"
		}
		switch reason {
		case frontierapi.ReasonInclude:
			return found + " matches no pattern of include: " + strings.Join(spec.Include, "  ")
		case frontierapi.ReasonExclude:
			return found + " matches a pattern of exclude: " + strings.Join(spec.Exclude, "  ")
		case frontierapi.ReasonScope:
			return found + " is out of scope (--scope domain enters the hosts of the seeds' domains, any enters all)"
		case frontierapi.ReasonExtension:
			return found + " is a file of a type that is not kept (accept or skip_extensions, in the spec)"
		case frontierapi.ReasonDepth:
			return found + " is too many links away from a seed (--max-depth)"
		}
		return found + " is excluded: " + reason
	}
	return ""
}
