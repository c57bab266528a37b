package state

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"time"

	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
	"seine/internal/schedule/traps"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Rules decides what of a crawl is fetched, when, and how often.
type Rules struct {
	crawlspec.Revision
	stored crawlspec.Revision // the stored spec; differs from Revision if it is unusable
	*RuleSet
}

// RuleSet is a compiled spec. Crawls with equal specs share one.
type RuleSet struct {
	fingerprint      uint64 // identifies the spec
	include, exclude []*regexp.Regexp
	extensions       map[string]bool // of files that are not fetched
	priorities       []priorityRule
	recrawl          []recrawlRule
	normalize        *weburl.Normalizer
	traps            traps.Limits
	links            uint64       // identifies the link rules of the spec
	cookies          bool         // cookies are kept for some URLs
	pace             hostPolicy   // for hosts without a source
	sources          []hostPolicy // in the order of the spec
	seeds            frontierapi.SeedList
}

type priorityRule struct {
	match    *regexp.Regexp
	priority byte
}

type recrawlRule struct {
	match    *regexp.Regexp
	min, max time.Duration
}

// hostPolicy is the policy for requests to a host.
type hostPolicy struct {
	politeness.Rules
	state    crawlspec.RunState
	maxPages int64 // of the host
	limits   crawlspec.Limits
}

// NewRules returns the rules of a spec. stored is the spec as it is stored, which differs from spec
// if it is unusable.
func NewRules(spec, stored crawlspec.Revision, set *RuleSet) *Rules {
	return &Rules{Revision: spec, stored: stored, RuleSet: set}
}

// CompiledFrom reports whether the rules belong to a stored spec.
func (r *Rules) CompiledFrom(spec crawlspec.Revision) bool { return r.stored == spec }

// NormalizeURL returns the crawl's normalized form of a canonical URL.
func (r *Rules) NormalizeURL(url string) string { return r.normalize.Normalize(url) }

func compile(spec crawlspec.Revision) (*Rules, error) {
	set, err := CompileSet(spec.Spec)
	if err != nil {
		return nil, err
	}
	return NewRules(spec, spec, set), nil
}

// CompileSet compiles a spec, which must be valid.
func CompileSet(spec *crawlspec.Spec) (*RuleSet, error) {
	normalize := spec.NormalizeOptions()
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d %d", messages.Encode(spec), weburl.Version, normalize.Fingerprint())
	r := &RuleSet{fingerprint: h.Sum64(), traps: traps.Limits(spec.Traps), links: linksPrint(spec)}
	var err error
	if r.include, err = crawlspec.CompilePatterns(spec.Include); err != nil {
		return nil, err
	}
	if r.exclude, err = crawlspec.CompilePatterns(spec.Exclude); err != nil {
		return nil, err
	}
	r.extensions = make(map[string]bool)
	for _, e := range spec.SkippedExtensions() {
		r.extensions[e] = true
	}
	for _, p := range spec.Priorities {
		match, err := crawlspec.CompilePattern(p.Match)
		if err != nil {
			return nil, err
		}
		r.priorities = append(r.priorities, priorityRule{match, byte(p.Priority)})
	}
	for _, c := range spec.Recrawl {
		match, err := crawlspec.CompilePattern(c.Match)
		if err != nil {
			return nil, err
		}
		least := time.Duration(cmp.Or(c.Every, c.Min))
		r.recrawl = append(r.recrawl, recrawlRule{match, least, max(least, time.Duration(c.Max))})
	}
	r.normalize = weburl.NewNormalizer(normalize)
	if r.seeds, err = frontierapi.ListSeeds(spec, r.normalize); err != nil {
		return nil, err
	}
	r.cookies = keeps(spec.Cookies) || slices.ContainsFunc(spec.Sources, func(s crawlspec.HostRule) bool { return keeps(s.Cookies) })
	return r, r.compilePaces(spec)
}

// maxRetryAfter limits the Retry-After that a host may request.
const maxRetryAfter = 24 * time.Hour

func (r *RuleSet) compilePaces(spec *crawlspec.Spec) (err error) {
	if r.pace, err = compilePace(spec, spec.Politeness, spec.State); err != nil {
		return err
	}
	r.pace.limits = spec.SourceLimits(-1)
	for i := range spec.Sources {
		rules, state := spec.SourcePace(i)
		p, err := compilePace(spec, rules, state)
		if err != nil {
			return err
		}
		p.limits = spec.SourceLimits(i)
		r.sources = append(r.sources, p)
	}
	return nil
}

func compilePace(spec *crawlspec.Spec, p crawlspec.Politeness, state crawlspec.RunState) (hostPolicy, error) {
	hours, err := politeness.ParseHours(p.Hours, p.TimeZone)
	return hostPolicy{
		Rules: politeness.Rules{
			Delay: time.Duration(p.Delay), Interval: time.Duration(p.Rate), PerHost: p.PerHost,
			Factor: p.DelayFactor, MaxDelay: time.Duration(p.MaxDelay), Jitter: p.Jitter,
			CrawlDelay: spec.Robots == crawlspec.RobotsObey, Hours: hours,
			Breaker: politeness.Breaker{
				Failures: p.Breaker.Failures, Wait: time.Duration(p.Breaker.Wait),
				MaxWait: time.Duration(p.Breaker.MaxWait), Probes: p.Breaker.Probes,
			},
			MaxRetryAfter: maxRetryAfter,
		},
		state: state, maxPages: p.MaxPagesPerHost,
	}, err
}

// paceOf returns the policy for a host, given without its port.
func (r *Rules) paceOf(hostname string) *hostPolicy {
	for i := range r.sources {
		if r.Sources[i].Matches(hostname) {
			return &r.sources[i]
		}
	}
	return &r.pace
}

// limitsOf returns the limits for requests for a URL.
func (r *Rules) limitsOf(url string) crawlspec.Limits {
	if len(r.sources) == 0 {
		return r.pace.limits
	}
	return r.paceOf(weburl.Hostname(url)).limits
}

// isCancelledFor reports whether the crawl, or its source for the URL's host, is cancelled.
func (r *Rules) isCancelledFor(url string) bool {
	return r.State == crawlspec.Cancelled || len(r.sources) > 0 && r.paceOf(weburl.Hostname(url)).state == crawlspec.Cancelled
}

// overrules reports whether the guard that excluded a URL evaluates it again: because the guard
// considers the URL alone, or because it is turned off.
func (r *Rules) overrules(reason string) bool {
	guard := traps.Reason(reason)
	return slices.Contains(traps.Reasons(), guard) && (!guard.Compares() || r.traps.Off(guard))
}

// ownPriority returns the given priority of a URL, or the default.
func ownPriority(given *int) byte {
	if given == nil {
		return messages.DefaultPriority
	}
	return byte(*given)
}

// priority returns the priority of the first rule that matches the URL, or own.
func (r *Rules) priority(url string, own byte) byte {
	for i := range r.priorities {
		if r.priorities[i].match.MatchString(url) {
			return r.priorities[i].priority
		}
	}
	return own
}
