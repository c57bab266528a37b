package frontierapi

import (
	"context"
	"fmt"
	"slices"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// EndReason is why a crawl has ended: nothing more happens in it without new seeds.
type EndReason string

// Ends of a crawl.
const (
	NotEnded   EndReason = ""
	Empty      EndReason = "empty"       // it never had seeds
	Complete   EndReason = "complete"    // every URL has reached its end
	PagesLimit EndReason = "pages_limit" // max_pages were fetched; what is queued stays queued
	BytesLimit EndReason = "bytes_limit" // max_bytes were fetched
	TimeLimit  EndReason = "time_limit"  // max_duration has passed
)

// CheckEnded reports whether a crawl has ended, and returns its status. Only the frontier can know:
// a page is done when the parser's message for it has been applied, and that comes after every URL
// found on the page. So the crawl has ended when no URL is open in any partition, no message waits
// in the streams, and no partition has changed during the check.
func (c Client) CheckEnded(ctx context.Context, crawl string, spec *crawlspec.Spec) (EndReason, CrawlStatus, error) {
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

// Drained returns the status of a crawl, and whether the partitions have applied everything that the streams hold for it.
func (c Client) Drained(ctx context.Context, crawl string) (CrawlStatus, bool, error) {
	parts, err := c.partitions(ctx, crawl)
	if err != nil {
		return CrawlStatus{}, false, err
	}
	drained, err := c.drained(ctx, crawl, parts)
	return sum(parts), drained, err
}

// moved reports whether anything has happened in a crawl between two status queries.
func moved(before, after []PartitionStatus) bool {
	for p := range before {
		if before[p].Epoch != after[p].Epoch || !before[p].Counters.SameStates(&after[p].Counters) {
			return true
		}
	}
	return false
}

// working reports whether a crawl has work left that its counters do not show.
func working(parts []PartitionStatus, spec *crawlspec.Spec) bool {
	return slices.ContainsFunc(parts, func(p PartitionStatus) bool {
		return p.Reviewing || p.Removing || p.Stalled ||
			p.Counters.Known() > 0 && spec.AgainDue(p.Again) // the partition does not know the spec yet
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

// drained reports whether the partitions have applied everything that the streams hold for the
// crawl.
func (c Client) drained(ctx context.Context, crawl string, parts []PartitionStatus) (bool, error) {
	seeds, err := c.Bus.LastSequence(ctx, messages.StreamSeeds, messages.SubjectSeeds(crawl))
	if err != nil {
		return false, err
	}
	if seeds > 0 {
		consumer, err := c.Bus.JS.Consumer(ctx, messages.StreamSeeds, messages.ConsumerSeeds)
		if err != nil {
			return false, fmt.Errorf("inspect consumer %s: %w", messages.ConsumerSeeds, err)
		}
		if consumer.CachedInfo().AckFloor.Stream < seeds {
			return false, nil
		}
	}
	for p := range parts {
		for _, stream := range []string{messages.StreamURLs, messages.StreamResults} {
			last, err := c.Bus.LastSequence(ctx, stream, messages.SubjectAny(crawl, p))
			if err != nil || last > parts[p].Positions[stream].Sequence {
				return false, err
			}
		}
	}
	return true, nil
}
