package frontier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Client asks the frontiers of a cluster, whichever process owns what.
type Client struct{ Bus *stages.Bus }

// ErrUnanswered is returned when a partition has no owner that answers.
var ErrUnanswered = errors.New("no frontier answers")

const (
	// questionTimeout bounds a question to one partition.
	questionTimeout = 5 * time.Second
	// controlTime bounds what a frontier takes to change a spec.
	controlTime = questionTimeout - time.Second
	// firstAnswer is how long the first try waits for an answer; each further one
	// waits twice as long. A frontier that is about to take the partition, or just
	// gave it up, hears a question and does not answer.
	firstAnswer = 100 * time.Millisecond
)

// Status returns how a crawl stands, over all partitions.
func (c *Client) Status(ctx context.Context, crawl string) (Counters, error) {
	parts, err := c.partitions(ctx, crawl)
	return sum(parts).Counters, err
}

// Standing returns how a crawl stands, over all partitions, without the question
// whether it has come to an end.
func (c *Client) Standing(ctx context.Context, crawl string) (CrawlStatus, error) {
	parts, err := c.partitions(ctx, crawl)
	return sum(parts), err
}

// ErrNoList is returned by a frontier of an older build, which cannot tell which crawls
// go on.
var ErrNoList = errors.New("a frontier does not tell which crawls go on")

// Awake returns the crawls in which something is to happen in some partition, sorted.
// The others have ended, were never fed, or wait for what the partition has not read
// yet. Of a hundred thousand it may leave some out.
func (c *Client) Awake(ctx context.Context) ([]string, error) {
	parts, err := c.statuses(ctx, Query{Awake: true})
	if err != nil {
		return nil, err
	}
	var all []string
	for i := range parts {
		if parts[i].Awake == nil {
			return nil, ErrNoList
		}
		all = append(all, parts[i].Awake.Names...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Due reports whether some host could be asked now for a crawl.
func (c *Client) Due(ctx context.Context, crawl string) (bool, error) {
	parts, err := c.statuses(ctx, Query{Crawl: crawl, Due: true})
	return slices.ContainsFunc(parts, func(p PartitionStatus) bool { return p.Due }), err
}

// Settled reports whether all partitions have taken in what there was when they were
// opened: before, they may say of a crawl that has ended that it goes on.
func (c *Client) Settled(ctx context.Context) (bool, error) {
	parts, err := c.statuses(ctx, Query{})
	return !slices.ContainsFunc(parts, func(p PartitionStatus) bool { return p.Settling }), err
}

func sum(parts []PartitionStatus) (total CrawlStatus) {
	for i := range parts {
		total.Add(&parts[i].Counters)
		total.VisitingAll = total.VisitingAll || parts[i].VisitingAll
		if parts[i].Unusable != "" {
			total.Unusable, total.Still = parts[i].Unusable, parts[i].Still
		}
		if next := parts[i].Next; next != nil && (total.Next == nil || next.NextMS < total.Next.NextMS) {
			total.Next = next
		}
	}
	if total.InFlight > 0 {
		total.Next = nil
	}
	return total
}

func (c *Client) partitions(ctx context.Context, crawl string) ([]PartitionStatus, error) {
	return c.statuses(ctx, Query{Crawl: crawl})
}

// statuses asks all partitions.
func (c *Client) statuses(ctx context.Context, q Query) ([]PartitionStatus, error) {
	parts := make([]PartitionStatus, c.Bus.Layout.Partitions)
	g, ctx := errgroup.WithContext(ctx)
	for p := range parts {
		g.Go(func() error { return c.queryPartition(ctx, opStatus, p, q, &parts[p]) })
	}
	return parts, g.Wait()
}

// Slowest returns the hosts with the longest mean request, over all partitions.
func (c *Client) Slowest(ctx context.Context, top int) ([]HostStatus, error) {
	var all []HostStatus
	for p := range c.Bus.Layout.Partitions {
		var hs []HostStatus
		if err := c.queryPartition(ctx, opHosts, p, Query{Top: top}, &hs); err != nil {
			return nil, err
		}
		all = append(all, hs...)
	}
	return keepSlowest(all, top), nil
}

// Explain returns what became of a URL, which is made canonical first.
func (c *Client) Explain(ctx context.Context, crawl, url string) (Explanation, error) {
	var e Explanation
	canonical, err := weburl.Canonicalize(url)
	if err != nil {
		return e, err
	}
	p := messages.Partition(canonical, c.Bus.Layout.Partitions)
	err = c.queryPartition(ctx, opExplain, p, Query{Crawl: crawl, URL: canonical}, &e)
	return e, err
}

// queryPartition asks a partition, again while nobody answers.
func (c *Client) queryPartition(ctx context.Context, op string, p int, q Query, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	for wait := firstAnswer; ; wait *= 2 {
		try, stop := context.WithTimeout(ctx, wait)
		err := c.request(try, messages.SubjectFrontier(op, p), q, reply)
		unheard := err != nil && try.Err() != nil
		stop()
		if unheard && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return fmt.Errorf("partition %d: %w", p, err)
		}
		return nil
	}
}

func (c *Client) request(ctx context.Context, subject string, q, reply any) error {
	text, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("encode question: %w", err)
	}
	m, err := c.Bus.NC.RequestWithContext(ctx, subject, text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	var f failure
	if jsontext.Unmarshal(m.Data, &f) == nil && f.Error != "" {
		return errors.New(f.Error)
	}
	if err := jsontext.Unmarshal(m.Data, reply); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}

// Host returns what is known of a host, "www.example.org" or with a port.
func (c *Client) Host(ctx context.Context, host string) (HostStatus, error) {
	var st HostStatus
	url, err := weburl.Canonicalize("http://" + host + "/")
	if err != nil {
		return st, fmt.Errorf("host %q: %w", host, err)
	}
	p := messages.Partition(url, c.Bus.Layout.Partitions)
	err = c.queryPartition(ctx, opHost, p, Query{Host: weburl.Host(url)}, &st)
	return st, err
}

// SetState pauses, resumes or cancels a crawl, or, if host is not empty, what
// it wants of one host. It returns the revision of the spec that says so.
func (c *Client) SetState(ctx context.Context, crawl, host string, state crawlspec.RunState) (uint64, error) {
	return c.control(ctx, Control{Crawl: crawl, Host: host, State: state})
}

func (c *Client) control(ctx context.Context, order Control) (uint64, error) {
	var reply struct {
		Rev uint64 `json:"rev"`
	}
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	err := c.request(ctx, messages.SubjectControl, order, &reply)
	return reply.Rev, err
}

// EndReason is why nothing more will happen in a crawl unless it is fed.
type EndReason string

// Ends of a crawl.
const (
	NotEnded   EndReason = ""
	Empty      EndReason = "empty"       // it was never fed
	Complete   EndReason = "complete"    // every URL has reached its end
	PagesLimit EndReason = "pages_limit" // max_pages were fetched; what is queued stays queued
	BytesLimit EndReason = "bytes_limit" // max_bytes were fetched
	TimeLimit  EndReason = "time_limit"  // max_duration has passed
)

// CrawlStatus is how a crawl stands, over all partitions.
type CrawlStatus struct {
	Counters
	// Next is the host that is asked next, while all must wait.
	Next *HostStatus
	// Unusable is why the newest spec that is stored for the crawl cannot be used, Still
	// says that none before it can be used either: nothing is sent until one is stored.
	Unusable string `json:"unusable_spec,omitempty"`
	Still    bool   `json:"still,omitempty"`
	// VisitingAll says that a run over everything has not come to all URLs yet.
	VisitingAll bool `json:"visiting_all,omitempty"`
}

// CheckEnded reports whether a crawl has come to an end, and how it stands. Only
// the frontier can know: a page is done when the parser's message for it has
// been applied, and that comes after everything that was found on the page. So
// when no URL is open in any partition, nothing waits in the streams, and no
// partition has moved while that was looked at, nothing can happen any more.
func (c *Client) CheckEnded(ctx context.Context, crawl string, spec *crawlspec.Spec) (EndReason, CrawlStatus, error) {
	before, err := c.partitions(ctx, crawl)
	if err != nil {
		return NotEnded, CrawlStatus{}, err
	}
	total := sum(before)
	end := endOf(before, &total.Counters, spec)
	if end == NotEnded || !seedsFed(spec, before) {
		return NotEnded, total, nil
	}
	drained, err := c.drained(ctx, crawl, before)
	if err != nil || !drained {
		return NotEnded, total, err
	}
	after, err := c.partitions(ctx, crawl)
	if err != nil {
		return NotEnded, total, err
	}
	if moved(before, after) {
		return NotEnded, sum(after), nil
	}
	return end, total, nil
}

// moved reports whether anything has happened in a crawl between two looks.
func moved(before, after []PartitionStatus) bool {
	for p := range before {
		if before[p].Epoch != after[p].Epoch || !same(&before[p].Counters, &after[p].Counters) {
			return true
		}
	}
	return false
}

// working reports whether something is to happen in a crawl that its counters do not show.
func working(parts []PartitionStatus, spec *crawlspec.Spec) bool {
	return slices.ContainsFunc(parts, func(p PartitionStatus) bool {
		return p.Reviewing || p.Removing || p.Still ||
			p.Counters.Known() > 0 && againDue(spec, p.Again) // it does not know the spec yet
	})
}

func endOf(parts []PartitionStatus, c *Counters, spec *crawlspec.Spec) EndReason {
	if working(parts, spec) {
		return NotEnded
	}
	late := slices.ContainsFunc(parts, func(p PartitionStatus) bool { return p.Late })
	switch {
	case c.Known() == 0:
		return Empty
	case c.InFlight > 0 || c.Parsing > 0:
		return NotEnded
	case c.Pending() == 0 && c.Planned == 0 && (spec.Schedule == "" || spec.State == crawlspec.Cancelled):
		return Complete
	case spec.MaxPages > 0 && c.Pages >= spec.MaxPages:
		return PagesLimit
	case spec.MaxBytes > 0 && c.BytesWire >= int64(spec.MaxBytes):
		return BytesLimit
	case late:
		return TimeLimit
	}
	return NotEnded
}

func same(a, b *Counters) bool {
	return a.Queued == b.Queued && a.InFlight == b.InFlight && a.Waiting == b.Waiting && a.Parsing == b.Parsing &&
		a.Done == b.Done && a.Failed == b.Failed && a.Pages == b.Pages && maps.Equal(a.Excluded, b.Excluded)
}

// drained reports whether the partitions have applied everything that the
// streams hold for the crawl.
func (c *Client) drained(ctx context.Context, crawl string, parts []PartitionStatus) (bool, error) {
	seeds, err := c.Bus.LastSequence(ctx, messages.StreamSeeds, messages.SubjectSeeds(crawl))
	if err != nil {
		return false, err
	}
	if seeds > 0 {
		consumer, err := c.Bus.JS.Consumer(ctx, messages.StreamSeeds, messages.ConsumerSeeds)
		if err != nil {
			return false, fmt.Errorf("look at consumer %s: %w", messages.ConsumerSeeds, err)
		}
		if consumer.CachedInfo().AckFloor.Stream < seeds {
			return false, nil
		}
	}
	for p := range parts {
		for stream, subject := range map[string]string{
			messages.StreamURLs: messages.SubjectURLs(crawl, p), messages.StreamResults: messages.SubjectResults(crawl, p),
		} {
			last, err := c.Bus.LastSequence(ctx, stream, subject)
			if err != nil || last > parts[p].Positions[stream].Sequence {
				return false, err
			}
		}
	}
	return true, nil
}
