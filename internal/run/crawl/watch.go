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

// Waits between queries to the frontier for the state of the crawl, for each
// partition, which is a separate query.
const (
	firstPoll  = 20 * time.Millisecond // the frontier has its partitions then
	minPoll    = 2 * time.Millisecond
	maxPoll    = 30 * time.Millisecond // or, for all, a hundredth of the time that the crawl has taken
	idlePoll   = time.Second           // while nothing changes
	restPoll   = 2 * time.Second       // while all hosts wait
	leastOfURL = 50 * time.Microsecond // no crawl takes less time for a URL
)

// surveyPoll is the wait between questions for the longest queues, so many.
const (
	surveyPoll = 5 * time.Second
	surveyed   = 3
)

// settlePoll is the wait between looks at whether the writer has every record,
// which take some requests to the server.
const settlePoll = 5 * time.Millisecond

// longestQueue is how long the longest queue of a host lasts.
type longestQueue struct {
	asked time.Time // zero before the first question
	lasts time.Duration
}

// look returns it as it was at most surveyPoll ago.
func (q *longestQueue) look(ctx context.Context, c *crawl) time.Duration {
	if now := time.Now(); now.Sub(cmp.Or(q.asked, c.began)) > surveyPoll {
		q.asked = now
		if hosts, err := c.client.Survey(ctx, c.Crawl, surveyed); err == nil {
			q.lasts = hosts.LongestQueue(c.Crawl)
		}
	}
	return q.lasts
}

// watch follows the crawl until it has ended, ctx is done, or a stage has
// failed, which ends the stages' context.
func (c *crawl) watch(ctx, stages context.Context) (frontierapi.EndReason, error) {
	wait := time.Duration(0)
	for {
		pause := cmp.Or(wait, firstPoll) * time.Duration(c.bus.Layout.Partitions)
		select {
		case <-ctx.Done():
			return frontierapi.NotEnded, nil
		case <-stages.Done():
			return frontierapi.NotEnded, nil // Wait will say why
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
			continue // not all partitions are open yet
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
		if c.server == nil && c.resumed && !c.asked { // others may fetch meanwhile
			c.before.Store(counters.Pages)
		}
		if c.Again && !c.asked {
			end = frontierapi.NotEnded
			if err := c.visitAgain(stages, spec, &counters); err != nil {
				return end, err
			}
		}
		if c.resumed && !c.Again && !c.asked && (failureRetry{c}).run(stages, &counters.Counters) {
			end = frontierapi.NotEnded
		}
		wait = c.untilPoll(wait, &counters, spec)
		c.asked = true
		c.last, c.state = counters.Counters, spec.State
		if c.Progress != nil {
			c.Progress(Progress{CrawlStatus: counters, Elapsed: time.Since(c.began), MaxPages: spec.MaxPages, State: spec.State, NATS: c.bus.NC.ConnectedUrlRedacted(), Data: c.local(), Longest: c.longest.look(stages, c)})
		}
		switch {
		case end == frontierapi.Empty && len(c.Seeds) > 0: // they are on their way
		case end == frontierapi.Empty:
			return frontierapi.NotEnded, fmt.Errorf("%w: crawl %s", ErrNothingToDo, c.Crawl)
		case end != frontierapi.NotEnded:
			c.state, c.cancelled = spec.State, spec.CancelledHosts()
			return end, nil
		}
	}
}

// local is the directory that tells commands how to look in, "" if the server is
// elsewhere.
func (c *crawl) local() string {
	if c.server == nil {
		return ""
	}
	return c.Data
}

// untilPoll returns how long to wait before the next question, when the last
// wait and the counters were these. A crawl that has much to do cannot end
// soon, and one that is slow does not end fast; one that is stalled need not be asked often: the wait grows to a quarter of
// the time since the last change.
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
	ofURL := max(leastOfURL, took/time.Duration(8*(1+now.Done+now.Failed)))
	wait := min(max(time.Duration(left)*ofURL, minPoll), max(maxPoll, took/time.Duration(100*c.bus.Layout.Partitions)), idlePoll)
	if now.Changed == c.last.Changed {
		wait = min(max(wait, last+last/4), idlePoll)
	}
	return wait
}

// fatalCondition returns what stops the crawl and only a person can fix. In
// separate processes a stage waits until it is fixed; here the person is
// waiting too.
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

// ready returns what is wrong with the connections, nil if nothing.
func (c *crawl) ready() error {
	for _, bus := range c.buses {
		if err := bus.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// explain returns err, or what a server elsewhere refused that is behind it.
func (c *crawl) explain(err error) error {
	for _, bus := range c.buses {
		err = bus.Refusals.WithErr(err)
	}
	return err
}
