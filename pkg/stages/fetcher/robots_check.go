package fetcher

import (
	"context"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// checkRobots asks robots.txt. If that decides the turn, t has its reply. The file comes from robotsCache
// (robots.go: caches, the request, what its status means), and internal/fetch/robots reads it: Group.Allowed
// decides. Its Crawl-delay is obeyed within this turn by hostDelay (self_redirect.go), and from turn to turn by
// the frontier, which has it with the result (recordOutcome in state/results.go), or where there is none, by
// fetchWithRobots (fetch_one.go). What becomes of the URL is applyOutcome's there: excluded if robots.txt forbids it.
//
// Its only caller, fetch (fetch_job.go), leaves it out where the spec says "robots: ignore". Then
// no job has a group, and robotsAllow forbids nothing. A redirect that the fetcher follows itself
// (self_redirect.go) is checked by the same robotsAllow and denyByRobots, against the group that
// the job has from here.
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
	switch {
	case !t.robotsAllow(t.req.URL):
		t.denyByRobots(t.req.URL, got.used())
	case got.last != nil && (t.ask.Spacing > 0 || delay > 0):
		t.reply = got.used()
		t.reply.Class = messages.RobotsFetched
	}
	return nil
}

// robotsAllow reports whether robots.txt lets a URL on the origin of the job be fetched. Everything
// is allowed if the job has not asked for robots.txt.
func (j *fetchJob) robotsAllow(url string) bool {
	return j.group == nil || j.group.Allowed(weburl.Path(url))
}

// denyByRobots ends the job with the rule of robots.txt that forbids a URL. The reply has what is
// known of the exchange before.
func (j *fetchJob) denyByRobots(url string, reply *httpclient.Reply) {
	reply.Class, reply.Text = messages.RobotsDenied, "robots.txt: "+j.group.Rule(weburl.Path(url))
	j.reply = reply
}

// used returns a reply with what is known of the exchange for robots.txt, if
// there was one. The status stays out: it is not that of the page.
func (l robotsLookup) used() *httpclient.Reply {
	if l.last == nil {
		return &httpclient.Reply{Started: time.Now()}
	}
	return bareExchange(l.last)
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
