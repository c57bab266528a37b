package fetcher

import (
	"context"
	"time"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// checkRobots checks robots.txt. If that decides the turn, it sets the reply of t. The file comes
// from robotsCache (robots.go: caches, the request, the meaning of its status), and
// internal/fetch/robots parses it: Group.Allowed decides. Within this turn, hostDelay
// (self_redirect.go) obeys its Crawl-delay. Between turns the frontier does, which gets it with the
// result (recordOutcome in state/results.go), or without a frontier fetchWithRobots (fetch_one.go).
// The frontier's applyOutcome excludes a URL that robots.txt forbids.
//
// Its only caller, fetch (fetch_job.go), skips it if the spec has "robots: ignore". Then no job has
// a group, and robotsAllow forbids nothing. For a redirect that the fetcher follows itself
// (self_redirect.go), the same robotsAllow and denyByRobots use the group that is set here.
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

// robotsAllow reports whether robots.txt allows a URL on the origin of the job. Everything is
// allowed if the job did not check robots.txt.
func (j *fetchJob) robotsAllow(url string) bool {
	return j.group == nil || j.group.Allowed(weburl.Path(url))
}

// denyByRobots ends the job with the rule of robots.txt that forbids a URL. reply has the data of
// the exchange before.
func (j *fetchJob) denyByRobots(url string, reply *httpclient.Reply) {
	reply.Class, reply.Text = messages.RobotsDenied, "robots.txt: "+j.group.Rule(weburl.Path(url))
	j.reply = reply
}

// used returns a reply with the data of the exchange for robots.txt, if there was one. It omits the
// status, which is not the page's.
func (l robotsLookup) used() *httpclient.Reply {
	if l.last == nil {
		return &httpclient.Reply{Started: time.Now()}
	}
	return bareExchange(l.last)
}

// unreachable turns the failure of a robots.txt request into that of the page, in a retryable
// class. Only a refused address stays as it is: the page would be refused as well.
func unreachable(last *httpclient.Reply) *httpclient.Reply {
	r := bareExchange(last)
	r.Class, r.Text, r.Detail = last.Class, "robots.txt: "+last.Text, last.Detail
	if !r.Class.Retryable() && r.Class != messages.RefusedAddress {
		r.Class = messages.ProtocolError
	}
	return r
}
