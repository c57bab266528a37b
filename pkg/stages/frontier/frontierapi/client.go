package frontierapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"seine/internal/base/jsontext"
	"seine/internal/base/panics"
	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Client queries the frontiers of a cluster, whichever process owns a partition.
type Client struct{ Bus *stages.Bus }

// ErrUnanswered is returned when no owner of a partition answers.
var ErrUnanswered = errors.New("no frontier answers")

const (
	// questionTimeout bounds a query to one partition.
	questionTimeout = 5 * time.Second
	// ControlTimeout bounds the time that a frontier takes to change a spec.
	ControlTimeout = questionTimeout - time.Second
	// firstAnswer is how long the first attempt waits for an answer; each further one waits twice
	// as long. A frontier that is about to acquire the partition, or has just released it, receives
	// a query and does not answer.
	firstAnswer = 100 * time.Millisecond
)

// Status returns the status of a crawl over all partitions. CheckEnded reports whether the crawl
// has ended.
func (c Client) Status(ctx context.Context, crawl string) (CrawlStatus, error) {
	parts, err := c.partitions(ctx, crawl)
	return sum(parts), err
}

// Awake returns the crawls with work left in some partition, sorted. The others have ended, never
// had seeds, or wait for messages that the partition has not read yet. Of a hundred thousand crawls
// it may omit some.
func (c Client) Awake(ctx context.Context) ([]string, error) {
	parts, err := c.statuses(ctx, Query{Awake: true})
	if err != nil {
		return nil, err
	}
	var all []string
	for i := range parts {
		if parts[i].Awake != nil {
			all = append(all, parts[i].Awake.Names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Due reports whether a request of a crawl could be sent to some host now.
func (c Client) Due(ctx context.Context, crawl string) (bool, error) {
	parts, err := c.statuses(ctx, Query{Crawl: crawl, Due: true})
	return slices.ContainsFunc(parts, func(p PartitionStatus) bool { return p.Due }), err
}

// Settled reports whether all partitions have applied everything that the streams hold. Until then
// they may report a crawl that has ended as running, and not count stored seeds.
func (c Client) Settled(ctx context.Context) (bool, error) {
	parts, err := c.statuses(ctx, Query{})
	if err != nil || slices.ContainsFunc(parts, func(p PartitionStatus) bool { return p.Settling }) {
		return false, err
	}
	return c.drained(ctx, "*", parts)
}

// Replaying returns the partitions whose owners still apply the messages that the streams hold
// beyond their state.
func (c Client) Replaying(ctx context.Context) (all []int, err error) {
	parts, err := c.statuses(ctx, Query{})
	for i := range parts {
		if parts[i].Replaying {
			all = append(all, parts[i].Partition)
		}
	}
	return all, err
}

func sum(parts []PartitionStatus) (total CrawlStatus) {
	for i := range parts {
		total.Add(&parts[i].Counters)
		total.VisitingAll = total.VisitingAll || parts[i].VisitingAll
		if parts[i].Unusable != "" {
			total.Unusable, total.Stalled = parts[i].Unusable, parts[i].Stalled
		}
		if next := parts[i].Next; next != nil && (total.Next == nil || next.NextMS < total.Next.NextMS) {
			total.Next = next
		}
		if last := parts[i].LastFailure; last != nil && (total.LastFailure == nil || last.AtMS > total.LastFailure.AtMS) {
			total.LastFailure = last
		}
	}
	if total.InFlight > 0 {
		total.Next = nil
	}
	if last := total.LastFailure; last != nil && (total.Pending() == 0 || !last.Class.Retryable()) {
		total.LastFailure = nil
	}
	return total
}

// Partition returns the status of a crawl in one partition.
func (c Client) Partition(ctx context.Context, crawl string, p int) (st PartitionStatus, err error) {
	err = c.queryPartition(ctx, OpStatus, p, Query{Crawl: crawl}, &st)
	return st, err
}

func (c Client) partitions(ctx context.Context, crawl string) ([]PartitionStatus, error) {
	return c.statuses(ctx, Query{Crawl: crawl})
}

func (c Client) statuses(ctx context.Context, q Query) ([]PartitionStatus, error) {
	return queryAll[PartitionStatus](ctx, c, OpStatus, q)
}

// queryAll sends a query to all partitions.
func queryAll[T any](ctx context.Context, c Client, op string, q Query) ([]T, error) {
	parts := make([]T, c.Bus.Layout.Partitions)
	g, ctx := errgroup.WithContext(ctx)
	for p := range parts {
		g.Go(panics.Caught(func() error { return c.queryPartition(ctx, op, p, q, &parts[p]) }))
	}
	return parts, g.Wait()
}

// Slowest returns the hosts with the longest mean request, over all partitions, limited to crawl
// unless it is empty.
func (c Client) Slowest(ctx context.Context, crawl string, top int) ([]HostStatus, error) {
	parts, err := queryAll[[]HostStatus](ctx, c, OpHosts, Query{Crawl: crawl, Top: top})
	if err != nil {
		return nil, err
	}
	return KeepSlowest(slices.Concat(parts...), top), nil
}

// Explain returns the state of a URL and its reasons. It canonicalizes the URL first.
func (c Client) Explain(ctx context.Context, crawl, url string) (Explanation, error) {
	var e Explanation
	canonical, err := weburl.CanonicalizeRoute(url)
	if err != nil {
		return e, err
	}
	p := messages.Partition(canonical, c.Bus.Layout.Partitions)
	err = c.queryPartition(ctx, OpExplain, p, Query{Crawl: crawl, URL: canonical}, &e)
	return e, err
}

// queryPartition sends a query to a partition, and repeats it until it is answered.
func (c Client) queryPartition(ctx context.Context, op string, p int, q Query, reply any) error {
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

func (c Client) request(ctx context.Context, subject string, q, reply any) error {
	m, err := c.Bus.NC.RequestWithContext(ctx, subject, messages.Encode(q))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	var f Failure
	if jsontext.Unmarshal(m.Data, &f) == nil && f.Error != "" {
		return errors.New(f.Error)
	}
	if err := jsontext.Unmarshal(m.Data, reply); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}

// Host returns the state of a host, "www.example.org" or with a port.
func (c Client) Host(ctx context.Context, host string) (HostStatus, error) {
	var st HostStatus
	url, err := weburl.Canonicalize("http://" + host + "/")
	if err != nil {
		return st, fmt.Errorf("host %q: %w", host, err)
	}
	p := messages.Partition(url, c.Bus.Layout.Partitions)
	err = c.queryPartition(ctx, OpHost, p, Query{Host: weburl.Host(url)}, &st)
	return st, err
}

// SetState pauses, resumes or cancels a crawl, or, if host is not empty, its work on one host. It
// returns the revision of the spec with the new state.
func (c Client) SetState(ctx context.Context, crawl, host string, state crawlspec.RunState) (uint64, error) {
	return c.control(ctx, Control{Crawl: crawl, Host: host, State: state})
}

func (c Client) control(ctx context.Context, order Control) (uint64, error) {
	var reply struct {
		Rev uint64 `json:"rev"`
	}
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	err := c.request(ctx, messages.SubjectControl, order, &reply)
	return reply.Rev, err
}

// Delete deletes a crawl everywhere except in outputs, and returns the revision of the deletion.
// The deletion is complete when Remaining returns 0; it continues without a caller.
func (c Client) Delete(ctx context.Context, crawl string) (uint64, error) {
	return c.control(ctx, Control{Crawl: crawl, Delete: true})
}

// Remaining returns how many partitions still have something of a crawl that was deleted at a
// revision, or do not know of the deletion.
func (c Client) Remaining(ctx context.Context, crawl string, rev uint64) (n int, err error) {
	parts, err := c.partitions(ctx, crawl)
	if err != nil {
		return len(parts), err
	}
	for i := range parts {
		if parts[i].Deletion < rev || parts[i].Removing {
			n++
		}
	}
	return n, nil
}
