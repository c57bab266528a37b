package fetcher

import (
	"context"
	"slices"
	"time"

	"seine/internal/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// maxOwnHops is how many redirects of a URL to itself are followed.
const maxOwnHops = 3

// followItself follows redirects to what the crawl takes for the URL it asked
// for, as from /a to /a;jsessionid=1: to the frontier that is the URL whose visit
// this is, so it could not send it, and the page would be lost. What they lead
// to is the page of that URL. It returns an error only if ctx is done.
func (f *Fetcher) followItself(ctx context.Context, t *turn) error {
	rules := f.rules.Of(t.req.Crawl, t.spec.Spec)
	asked := []string{t.req.URL}
	for {
		next, ok := redirected(&t.ask, t.reply)
		if !ok || rules.Normalize(next) != t.req.URL {
			return nil
		}
		if len(asked) > maxOwnHops || slices.Contains(asked, next) {
			t.reply.failed(errItself)
			return nil
		}
		t.release()
		if path := weburl.Path(next); t.group != nil && !t.group.Allowed(path) {
			t.reply = t.reply.exchange()
			t.reply.class, t.reply.text = messages.RobotsDenied, "robots.txt: "+t.group.Rule(path)
			return nil
		}
		if err := f.hop(ctx, t, next); err != nil {
			return err
		}
		asked = append(asked, next)
	}
}

var errItself = fail(messages.ClientError, "redirects to itself")

// hop asks for next in the same turn, when the host has had its rest.
func (f *Fetcher) hop(ctx context.Context, t *turn, next string) error {
	if rest := t.rest(); rest > 0 {
		if err := timed(waitHost, func() error { return stages.Sleep(ctx, rest) }); err != nil {
			return err
		}
	}
	before := t.reply
	t.ask.url = next
	if err := f.ask(ctx, t); err != nil {
		return err
	}
	t.reply.asked(before)
	return nil
}

// rest is how long the host must rest after a response: what the frontier said,
// and what robots.txt says, which the frontier may not know yet.
func (t *turn) rest() time.Duration {
	if t.delay == nil {
		return t.ask.delay
	}
	pace, _ := t.spec.HostPace(weburl.Hostname(t.req.URL))
	return max(t.ask.delay, min(time.Duration(*t.delay), time.Duration(pace.MaxDelay)))
}
