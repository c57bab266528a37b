package frontier

import (
	"context"
	"errors"
	"time"

	"seine/internal/streams/retention"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// A frontier checks every expiryEvery the crawls that may have expired, which depends on their last
// change. A crawl without recent changes that has not ended is checked again after expiryRetry. All
// crawls are checked after expiryAnew, whatever the clocks say.
const (
	expiryEvery = time.Second
	expiryRetry = 30 * time.Second
	expiryAnew  = time.Hour
)

// expiry is when to check a crawl again, unless its spec has changed.
type expiry struct {
	rev uint64
	at  time.Time
}

// expirer deletes crawls that ended longer ago than their Spec.Keep.
type expirer struct{ *Frontier }

// run deletes expired crawls until ctx is done. Only the owner of the first partition does it; if
// two processes believe to be the owner, the result is still correct: see stages.SpecExpiry.
func (e expirer) run(ctx context.Context) error {
	asked := make(map[string]expiry)
	return e.whileFirstOwner(ctx, expiryEvery, func() { e.expireDue(ctx, asked) })
}

// expireDue deletes the crawls that are due now.
func (e expirer) expireDue(ctx context.Context, asked map[string]expiry) {
	kept := e.specs.Expiry.Kept()
	for crawl := range asked {
		if _, ok := kept[crawl]; !ok {
			delete(asked, crawl)
		}
	}
	for crawl, rev := range kept {
		now := time.Now()
		if last, ok := asked[crawl]; ok && last.rev == rev && now.Before(last.at) {
			continue
		}
		next, err := e.expire(ctx, crawl)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.log.Debug("cannot determine whether a crawl has expired", "crawl", crawl, "error", err)
		}
		if errors.Is(err, frontierapi.ErrUnanswered) {
			return // each crawl would take seconds
		}
		if least := now.Add(expiryEvery); next.Before(least) {
			next = least
		}
		if most := now.Add(expiryAnew); next.After(most) {
			next = most
		}
		asked[crawl] = expiry{rev, next}
	}
}

// expire deletes a crawl if it is due, and otherwise returns when to check it again. It queries the
// partitions only once the crawl may be due.
func (e expirer) expire(ctx context.Context, crawl string) (next time.Time, err error) {
	spec, err := e.specs.Get(ctx, crawl, 0)
	if err != nil || spec.Keep == 0 {
		return next, err
	}
	// The spec's age alone shows that it is not due before.
	if first := spec.Time.Add(time.Duration(spec.Keep)); e.before(first) {
		return first, nil
	}
	c, err := frontierapi.Client{Bus: e.bus}.Status(ctx, crawl)
	if err != nil {
		return next, err
	}
	if first := frontierapi.LastChange(spec, &c.Counters).Add(time.Duration(spec.Keep)); e.before(first) {
		return first, nil
	}
	rev, now, err := e.specs.Expiry.Now(ctx)
	if err != nil {
		return next, err
	}
	d, at, err := e.judge(ctx, crawl)
	switch {
	case err != nil:
		return next, err
	case at.IsZero():
		return time.Now().Add(expiryRetry), nil
	case e.before(at):
		return at, nil
	case now.Before(at): // a wrong clock must not delete anything
		return next, nil
	}
	done, err := e.specs.Expiry.Delete(ctx, crawl, d, rev)
	if err == nil {
		e.log.Info("deleting an ended crawl: the time of keep in its spec is over", "crawl", crawl, "revision", done.Rev)
	}
	return next, err
}

// before reports whether a time is in the future by the clock of this process.
func (e expirer) before(t time.Time) bool { return e.now() < t.UnixNano() }

// judge returns when a crawl expires, zero if it has not ended, and the deletion to store now.
func (e expirer) judge(ctx context.Context, crawl string) (d messages.Deletion, at time.Time, err error) {
	spec, err := e.specs.Expiry.GetNewest(ctx, crawl)
	if err != nil {
		return d, at, err
	}
	if d, err = retention.DeletionNow(ctx, e.bus, crawl, spec.Spec); err != nil { // before the crawl is checked: later messages are not covered
		return d, at, err
	}
	client := frontierapi.Client{Bus: e.bus}
	end, standing, err := client.CheckEnded(ctx, crawl, spec.Spec)
	if err == nil {
		at, err = client.Expiry(ctx, crawl, spec, end, &standing.Counters)
	}
	return d, at, err
}
