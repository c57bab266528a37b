package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"seine/pkg/crawlspec"
	"seine/pkg/stages/frontier/frontierapi"
)

// Intervals at which the crawl's state is requested from the frontier. They apply to each
// partition, which needs a request of its own.
const (
	firstPoll = 20 * time.Millisecond // the frontier owns its partitions by then
	minPoll   = 2 * time.Millisecond
	maxPoll   = 30 * time.Millisecond // or, over all partitions, a hundredth of the elapsed time
	idlePoll  = time.Second           // while nothing changes
	restPoll  = 2 * time.Second       // while all hosts wait for their delay
	minPerURL = 50 * time.Microsecond // least time that a crawl takes for a URL
)

// surveyPoll is the interval between requests for the longest queues, surveyed their number.
const (
	surveyPoll = 5 * time.Second
	surveyed   = 3
)

// settlePoll is the interval between checks whether the writer has read every record. A check takes
// several requests to the server.
const settlePoll = 5 * time.Millisecond

// longestQueue caches the time until the longest queue of a host is empty.
type longestQueue struct {
	asked time.Time // time of the last request, zero before the first
	lasts time.Duration
}

// look returns a value that is at most surveyPoll old.
func (q *longestQueue) look(ctx context.Context, c *crawl) time.Duration {
	if now := time.Now(); now.Sub(cmp.Or(q.asked, c.began)) > surveyPoll {
		q.asked = now
		if hosts, err := c.client.Survey(ctx, c.Crawl, surveyed); err == nil {
			q.lasts = hosts.LongestQueue(c.Crawl)
		}
	}
	return q.lasts
}

// watch follows the crawl until it has ended, ctx is done, or a stage has failed and cancelled the
// stages' context.
func (c *crawl) watch(ctx, stages context.Context) (frontierapi.EndReason, error) {
	wait := time.Duration(0)
	for {
		pause := cmp.Or(wait, firstPoll) * time.Duration(c.bus.Layout.Partitions)
		select {
		case <-ctx.Done():
			return frontierapi.NotEnded, nil
		case <-stages.Done():
			return frontierapi.NotEnded, nil // Wait returns the reason
		case <-time.After(pause):
		}
		if err := c.fatalCondition(); err != nil {
			return frontierapi.NotEnded, err
		}
		if c.deleted() != nil {
			c.finishDeletion(ctx, stages)
			return frontierapi.NotEnded, ErrDeleted
		}
		spec, err := c.spec(stages)
		var end frontierapi.EndReason
		var counters frontierapi.CrawlStatus
		if err == nil {
			end, counters, err = c.client.CheckEnded(stages, c.Crawl, spec)
		}
		if errors.Is(err, frontierapi.ErrUnanswered) || stages.Err() != nil {
			continue // some partitions are not open yet
		}
		if err != nil {
			c.Log.Debug("cannot ask the frontier", "error", err)
			continue
		}
		if c.unknown != nil {
			if err := c.beginOrRefuse(stages, end, &counters.Counters); err != nil {
				return frontierapi.NotEnded, err
			}
			continue
		}
		if c.server == nil && c.resumed && !c.polled { // other processes may fetch meanwhile
			c.before.Store(counters.Pages)
		}
		if c.Again && !c.polled {
			end = frontierapi.NotEnded
			if err := c.visitAgain(stages, spec, &counters); err != nil {
				return end, err
			}
		}
		if c.resumed && !c.Again && !c.polled && (failureRetry{c}).run(stages, &counters.Counters) {
			end = frontierapi.NotEnded
		}
		wait = c.untilPoll(wait, &counters, spec)
		c.polled = true
		c.last, c.state = counters.Counters, spec.State
		if c.Progress != nil {
			c.Progress(Progress{CrawlStatus: counters, Elapsed: time.Since(c.began), MaxPages: spec.MaxPages, State: spec.State, NATS: c.bus.NC.ConnectedUrlRedacted(), Data: c.local(), Longest: c.longest.look(stages, c)})
		}
		switch {
		case end == frontierapi.Empty && len(c.Seeds) > 0: // the seeds have not arrived yet
		case end == frontierapi.Empty:
			return frontierapi.NotEnded, fmt.Errorf("%w: crawl %s", ErrNothingToDo, c.Crawl)
		case end != frontierapi.NotEnded:
			c.state, c.cancelled = spec.State, spec.CancelledHosts()
			return end, nil
		}
	}
}

// local returns the directory that other commands use to connect, "" with an external server.
func (c *crawl) local() string {
	if c.server == nil {
		return ""
	}
	return c.Data
}

// untilPoll returns the wait before the next request to the frontier, given the last wait and the
// counters. It waits longer the more URLs are left and the slower the crawl is. For a stalled
// crawl, the wait grows to a quarter of the time since the last change.
func (c *crawl) untilPoll(last time.Duration, now *frontierapi.CrawlStatus, spec *crawlspec.Spec) time.Duration {
	if now.Next != nil && now.InFlight+now.Parsing == 0 {
		if due := time.Until(time.UnixMilli(now.Next.NextMS)); due > maxPoll {
			return min(due, restPoll) / time.Duration(c.bus.Layout.Partitions)
		}
	}
	left := now.Pending()
	if spec.MaxPages > 0 {
		left = min(left, spec.MaxPages-now.Pages)
	}
	took := time.Since(c.began)
	ofURL := max(minPerURL, took/time.Duration(8*(1+now.Done+now.Failed)))
	wait := min(max(time.Duration(left)*ofURL, minPoll), max(maxPoll, took/time.Duration(100*c.bus.Layout.Partitions)), idlePoll)
	if now.Changed == c.last.Changed {
		wait = min(max(wait, last+last/4), idlePoll)
	}
	return wait
}

// fatalCondition returns an error that only the user can fix, which ends the crawl. In separate
// processes a stage waits for the fix instead.
func (c *crawl) fatalCondition() error {
	if err := (outputs{c}).trouble(); err != nil {
		return err
	}
	if c.server != nil {
		return errors.Join(checkDisk(c.Data), c.server.Err())
	}
	for _, bus := range c.buses {
		if err := bus.Refusals.Err(); err != nil {
			return err
		}
	}
	return nil
}

// ready returns the first error of the connections.
func (c *crawl) ready() error {
	for _, bus := range c.buses {
		if err := bus.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// explain adds to err what an external server refused.
func (c *crawl) explain(err error) error {
	for _, bus := range c.buses {
		err = bus.Refusals.WithErr(err)
	}
	return err
}
