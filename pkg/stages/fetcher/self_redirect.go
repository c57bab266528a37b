package fetcher

import (
	"context"
	"slices"
	"time"

	"seine/internal/base/sleep"
	"seine/internal/base/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// maxSelfRedirects is how many redirects of a URL to itself are followed.
const maxSelfRedirects = 3

// sentRequest has the parts of a request that determine the site's response.
type sentRequest struct{ url, cookie string }

// followSelfRedirects follows redirects to a URL that the crawl considers the requested one, such
// as from /a to /a;jsessionid=1, or to /a again with a cookie. The frontier could not send such a
// URL, since it is that of the same visit, and the page would be lost. The target is the page of
// the requested URL. If the frontier sets Follow, because redirects on the origin led back to the
// URL before, it follows all of them. It returns an error only if ctx is done.
func (f *Fetcher) followSelfRedirects(ctx context.Context, t *fetchJob) error {
	rules := f.rules.Get(t.req.Crawl, t.spec.Spec)
	most := maxSelfRedirects
	if t.req.Follow {
		most = max(most, t.spec.HostLimits(weburl.Hostname(t.req.URL)).MaxRedirects)
	}
	var sent []sentRequest
	var last fetchJob // the job of the last redirect
	for {
		next, ok := redirected(t.reply)
		itself := ok && rules.Normalize(next) == t.req.URL
		if !itself && !(ok && f.mayPass(t, next)) {
			break
		}
		// The same request would get the same response; with another cookie it may not.
		sent = append(sent, sentRequest{t.ask.URL, t.reply.Cookie})
		if len(sent) > most || slices.Contains(sent, sentRequest{next, f.client.CookieFor(&t.ask, next)}) {
			t.reply.Failed(t.loop())
			return nil
		}
		t.noteAnswer()
		t.release()
		if !t.robotsAllow(next) {
			t.denyByRobots(next, bareExchange(t.reply))
			return nil
		}
		last = *t
		if err := f.hop(ctx, t, next); err != nil {
			return err
		}
	}
	// The frontier must send the page of another URL itself; a retryable failure on the way belongs
	// to this visit.
	if c := t.reply.Class; rules.Normalize(t.ask.URL) != t.req.URL && c != messages.Redirect && !c.Retryable() && len(sent) > 0 {
		t.release()
		askedBefore(last.reply, t.reply)
		t.ask, t.reply = last.ask, last.reply
	}
	return nil
}

// mayPass reports whether this fetcher should follow a redirect to next as part of a circle that
// leads back to the URL of the visit. URLs that robots.txt or the spec forbids are left to the
// frontier, which records the reason for next.
func (f *Fetcher) mayPass(t *fetchJob, next string) bool {
	return t.req.Follow && weburl.Origin(next) == weburl.Origin(t.req.URL) && f.scopes.Get(t.req.Crawl, t.spec.Spec).includes(next) && t.robotsAllow(next)
}

// loop returns the failure of a URL that redirects to itself, or in a circle. A site that requires
// a cookie has a separate reason.
func (j *fetchJob) loop() *httpclient.Failure {
	if j.req.Follow {
		return errCircle
	}
	if len(j.reply.Header["Set-Cookie"]) > 0 && !j.ask.Policy.KeepsCookies(j.ask.URL) {
		return httpclient.Failf(messages.ClientError, "redirects to itself and sets a cookie: the site may require cookies (cookies: true)")
	}
	return errSelfRedirectLoop
}

var (
	errSelfRedirectLoop = httpclient.Failf(messages.ClientError, "redirects to itself")
	errCircle           = httpclient.Failf(messages.ClientError, "redirects in a circle, whatever cookies are sent")
)

// hop requests next in the same turn, after the host's delay.
func (f *Fetcher) hop(ctx context.Context, t *fetchJob, next string) error {
	if rest := t.hostDelay(); rest > 0 {
		if err := httpclient.Timed(waitHost, func() error { return sleep.For(ctx, rest) }); err != nil {
			return err
		}
	}
	before := t.reply
	t.askFor(next, f.rules.Get(t.req.Crawl, t.spec.Spec).Normalize(next) == t.req.URL)
	if err := f.doExchange(ctx, t); err != nil {
		return err
	}
	askedBefore(t.reply, before)
	return nil
}

// askFor sets the URL of the next request. Only the URL of the visit gets the validators of the
// request, which do not apply to other URLs.
func (j *fetchJob) askFor(url string, itself bool) {
	j.ask.URL, j.ask.ETag, j.ask.LastModified = url, "", ""
	if itself {
		j.ask.ETag, j.ask.LastModified = j.req.ETag, j.req.LastModified
	}
}

// hostDelay returns the host's delay after a response: the frontier's, or that of robots.txt, which
// the frontier may not know yet, if that is longer.
func (j *fetchJob) hostDelay() time.Duration {
	if j.delay == nil {
		return time.Duration(j.req.Delay)
	}
	pace, _ := j.spec.HostPoliteness(weburl.Hostname(j.req.URL))
	return max(time.Duration(j.req.Delay), min(time.Duration(*j.delay), time.Duration(pace.MaxDelay)))
}
