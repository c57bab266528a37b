package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/internal/base/humanize"
	"seine/internal/base/panics"
	"seine/internal/ops/alerts"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// maxQueries is the number of crawls queried in parallel.
const maxQueries = 8

// ended is the state of a crawl that had ended. Determining the end takes many requests, so the
// result is reused until one of these values changes. The time of the last change alone does not
// suffice, because it is the latest by the clocks of several frontiers.
type ended struct {
	end                         frontierapi.EndReason
	rev                         uint64
	changed, known, open, pages int64
}

func (r *Reader) readCrawls(ctx context.Context, o *Overview) error {
	names, asked, err := r.crawls(ctx)
	if err != nil {
		return err
	}
	if o.Crawls, err = r.ReadNamed(ctx, names, asked); err != nil {
		return err
	}
	if r.Specs != nil {
		o.Crawls = slices.DeleteFunc(o.Crawls, func(c Crawl) bool { // First may name crawls that do not exist
			return c.Problem == "" && c.End == frontierapi.Empty && !r.Specs.HasOwn(c.Name)
		})
	}
	if !r.Alerts {
		return nil
	}
	return r.readAlerts(ctx, o)
}

// Crawls returns the status of the named crawls, sorted by name. It queries no other crawls.
func Crawls(ctx context.Context, bus *stages.Bus, names ...string) ([]Crawl, error) {
	r := Reader{Bus: bus}
	return r.ReadNamed(ctx, names, nil)
}

// ReadNamed reads the state of the crawls in asked, or of all if asked is nil. If a state is
// unknown, the Problem of its crawl gives the reason. Later calls need fewer requests for crawls
// that have ended.
func (r *Reader) ReadNamed(ctx context.Context, names []string, asked map[string]bool) (all []Crawl, err error) {
	specs := r.Specs
	if specs == nil {
		if specs, err = stages.OpenSpecs(ctx, r.Bus); err != nil {
			return nil, err
		}
	}
	all = make([]Crawl, len(names))
	var unanswered atomic.Bool // then the other crawls need not wait for a reply
	var g errgroup.Group
	g.SetLimit(maxQueries)
	for i, name := range names {
		c := &all[i]
		c.Name = name
		if messages.CheckCrawl(name) != nil {
			c.Problem = "no crawl can have this name: remove the key (nats kv del " + messages.BucketCrawls + " " + name + ")"
			continue
		}
		if c.Unasked = asked != nil && !asked[name]; c.Unasked {
			continue
		}
		g.Go(func() error {
			err := frontierapi.ErrUnanswered
			if !unanswered.Load() {
				err = panics.Caught(func() error { return r.readCrawl(ctx, specs, c) })()
			}
			if err != nil {
				unanswered.CompareAndSwap(false, errors.Is(err, frontierapi.ErrUnanswered))
				c.Problem = err.Error()
			}
			return nil
		})
	}
	_ = g.Wait() // cannot fail: no function returns an error
	r.remember(all)
	return all, nil
}

// readAlerts reads the raised alerts of the queried crawls.
func (r *Reader) readAlerts(ctx context.Context, o *Overview) error {
	store, err := alerts.OpenStore(ctx, r.Bus)
	if err != nil {
		return err
	}
	for i := range o.Crawls {
		if o.Crawls[i].Unasked {
			continue
		}
		known, _, err := store.Load(ctx, o.Crawls[i].Name)
		if err != nil {
			return err
		}
		o.Alerts = append(o.Alerts, known.Raised()...)
	}
	return nil
}

// crawls returns the names of the crawls in the overview, and the crawls to query. With Specs,
// these are the crawls that have work, those in First, and others up to Most.
func (r *Reader) crawls(ctx context.Context) (names []string, asked map[string]bool, err error) {
	first := r.First
	switch {
	case r.Specs != nil:
		awake, _ := frontierapi.Client{Bus: r.Bus}.Awake(ctx) // without a reply, any crawls up to Most
		first, names = slices.Concat(awake, first), r.Specs.Crawls()
	case r.Crawl != "":
		names = []string{r.Crawl}
	default:
		if names, err = allNames(ctx, r.Bus); err != nil {
			return nil, nil, err
		}
	}
	asked = upTo(first, names, r.Most)
	if r.Specs != nil {
		names = slices.Sorted(maps.Keys(asked))
	}
	return names, asked, nil
}

// upTo returns the set of names, filled with others up to most; with all others if most is 0.
func upTo(names, others []string, most int) map[string]bool {
	there := make(map[string]bool)
	for _, name := range names {
		there[name] = true
	}
	for _, name := range others {
		if most > 0 && len(there) >= most {
			break
		}
		there[name] = true
	}
	return there
}

func (r *Reader) readCrawl(ctx context.Context, specs *stages.Specs, c *Crawl) error {
	spec, err := specs.Get(ctx, c.Name, 0)
	if err != nil {
		return err
	}
	c.Rev, c.Spec = spec.Rev, spec.Spec
	defer c.setState(&spec)
	if spec.State == crawlspec.Running {
		c.NextRun, _ = spec.NextRun(time.Now()) // an invalid schedule is reported with the spec
	}
	client := frontierapi.Client{Bus: r.Bus}
	if was, ok := r.ends[c.Name]; ok {
		c.CrawlStatus, err = client.Status(ctx, c.Name)
		if c.End = was.end; err == nil && was == c.ended() {
			c.DeletedAt, err = client.Expiry(ctx, c.Name, spec, c.End, &c.Counters)
			return err
		}
	}
	if err == nil {
		c.End, c.CrawlStatus, err = client.CheckEnded(ctx, c.Name, spec.Spec)
	}
	if c.Unusable == "" { // otherwise a frontier reports it
		c.Unusable, c.Stalled = spec.Unusable, spec.Stalled
	}
	if err == nil {
		c.DeletedAt, err = client.Expiry(ctx, c.Name, spec, c.End, &c.Counters)
	}
	return err
}

// StillEnded reports whether a crawl has ended and has not changed since an earlier observation.
func (c *Crawl) StillEnded(earlier *Crawl) bool {
	return c.End != frontierapi.NotEnded && c.ended() == earlier.ended()
}

func (c *Crawl) ended() ended { return ended{c.End, c.Rev, c.Changed, c.Known(), c.Pending(), c.Pages} }

// remember stores the ends of crawls for the next call.
func (r *Reader) remember(crawls []Crawl) {
	r.ends = make(map[string]ended)
	for i := range crawls {
		if c := &crawls[i]; c.Problem == "" && c.End != frontierapi.NotEnded && c.End != frontierapi.Empty {
			r.ends[c.Name] = c.ended()
		}
	}
}

// setState sets the state of a crawl from its spec and its end.
func (c *Crawl) setState(spec *crawlspec.Revision) {
	switch set := spec.State; {
	case spec.Deletion != nil && !spec.Deletion.Done && spec.Rev <= spec.Deletion.Rev:
		c.State = Deleting
	case c.Stalled:
		c.State = Blocked
	case set == crawlspec.Running && c.End != frontierapi.NotEnded:
		c.State = State(c.End)
	default:
		c.State = State(set)
	}
	c.Why = c.whyNoPages()
}

// whyNoPages explains for a crawl that ended without a page what happened to its URLs.
func (c *Crawl) whyNoPages() string {
	if c.End == frontierapi.NotEnded || c.Pages > 0 {
		return ""
	}
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(c.Excluded)) {
		all = append(all, fmt.Sprintf("%s excluded: %s", humanize.Plural(c.Excluded[reason], "URL"), cmp.Or(Hints[reason], reason)))
	}
	for _, class := range slices.Sorted(maps.Keys(c.FailedBy)) {
		all = append(all, fmt.Sprintf("%s failed: %s", humanize.Plural(c.FailedBy[class], "URL"), class))
	}
	return strings.Join(all, "; ")
}

// Hints maps the reason of an exclusion to advice.
var Hints = map[string]string{
	frontierapi.ReasonAddress: "its address is private (allow_private: true in the spec, or seine crawl --allow-private, permits it)",
	frontierapi.ReasonRobots:  "robots.txt disallows it (--robots ignore, if the site is yours)",
	frontierapi.ReasonExclude: "an --exclude pattern matches it",
	frontierapi.ReasonType:    "its content type is not kept; seine explain URL names it (accept in the spec, or for JSON a record rule with jq)",
}

// Remedies maps the class of a failure to advice.
var Remedies = map[messages.Class]string{
	messages.Gone:           "the page does not exist: check the URL",
	messages.ClientError:    "the site refuses this request: check the URL, or give a spec with the login or headers that the page needs",
	messages.Redirect:       "the redirects of the site do not end: check the URL",
	messages.Throttled:      "the site limits requests: try again later",
	messages.ServerError:    "the site failed: try again later",
	messages.RobotsDenied:   "robots.txt of the site disallows this page: fetch another page",
	messages.DNSFailure:     "check the name of the host",
	messages.ConnectFailure: "check that the host is up, and its port",
	messages.TLSFailure:     "check the certificate of the site, or use http:// if it has none",
	messages.TooLarge:       "a larger max_body in the spec may allow it, up to 16 MiB",
	messages.Blocked:        "the site asks for proof of a human visitor: ask its owner for access",
	messages.ProxyFailure:   "check the proxy of the spec",
}
