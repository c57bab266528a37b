package fetcher

import (
	"context"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// checkRobots asks robots.txt. If that decides the turn, t has its reply.
func (f *Fetcher) checkRobots(ctx context.Context, t *fetchJob) error {
	got, err := f.robots.get(ctx, &t.ask)
	if err != nil {
		return err
	}
	t.noteRobots(got.hops)
	if got.file == nil {
		t.reply = unreachable(got.last)
		return nil
	}
	t.robots = got.file.File
	group := got.file.Group(t.spec.ProductToken())
	t.group = group
	delay, _ := group.CrawlDelay()
	t.delay = (*messages.Millis)(&delay)
	path := weburl.Path(t.req.URL)
	switch {
	case !group.Allowed(path):
		t.reply = got.used()
		t.reply.Class, t.reply.Text = messages.RobotsDenied, "robots.txt: "+group.Rule(path)
	case got.last != nil && (t.ask.Spacing > 0 || delay > 0):
		t.reply = got.used()
		t.reply.Class = messages.RobotsFetched
	}
	return nil
}

// used returns a reply with what is known of the exchange for robots.txt, if
// there was one. The status stays out: it is not that of the page.
func (g robotsLookup) used() *httpclient.Reply {
	if g.last == nil {
		return &httpclient.Reply{Started: time.Now()}
	}
	return bareExchange(g.last)
}

// unreachable makes the end of a robots.txt that could not be had that of the
// page, in a class that lets it be tried again. Only an address that may not be
// dialled stays as it is: the page would be refused as well.
func unreachable(last *httpclient.Reply) *httpclient.Reply {
	r := bareExchange(last)
	r.Class, r.Text, r.Detail = last.Class, "robots.txt: "+last.Text, last.Detail
	if !r.Class.Retryable() && r.Class != messages.RefusedAddress {
		r.Class = messages.ProtocolError
	}
	return r
}
