package fetcher

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/base/weburl"
	"seine/internal/fetch/robots"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// fetchJob is one request being handled by the stage.
type fetchJob struct {
	req       *messages.Request
	spec      crawlspec.Revision
	partition int
	object    string // object name for a large body
	inline    int    // maximum size of an inline body: see messages.Inline
	ask       httpclient.Request
	reply     *httpclient.Reply // the outcome
	robots    *robots.File      // nil if it was not requested
	group     *robots.Group     // group of robots.txt that applies, nil for none
	delay     *messages.Millis  // Crawl-delay of robots.txt, nil if unknown
	// archived are the responses of this turn other than its page, for the archive. archivedHops of
	// them are responses to the page's request, and redirectedTo is where the last of those led.
	archived []*nats.Msg
	// bodies are the object names of messages whose bodies are too large for them.
	bodies       map[*nats.Msg]string
	archivedHops int
	redirectedTo string
	lastArchived *httpclient.Reply // the last reply with a response in archived

	rendered renderedVisit
	// isMine reports whether no other fetcher can have received the request by now; nil outside of
	// a crawl, where there is no other.
	isMine func() bool
}

// isSuspect reports whether another process may have received the request by now, because this one
// was stalled or cut off.
func (j *fetchJob) isSuspect() bool { return j.isMine != nil && !j.isMine() }

// newJob returns the job for a request under its spec.
func (f *Fetcher) newJob(req *messages.Request, spec crawlspec.Revision) *fetchJob {
	partition := messages.Partition(req.URL, f.bus.Layout.Partitions)
	object := objectName(partition, messages.VisitID(req.Crawl, req.Visit))
	t := &fetchJob{
		req: req, spec: spec, partition: partition, object: object, inline: messages.Inline(f.bus.MaxPayload()),
		ask: httpclient.Request{
			CookieJar: messages.Incarnation(req.Crawl, req.Visit.Incarnation()), URL: req.URL,
			Spacing: time.Duration(max(req.Delay, req.Interval)), Archive: spec.Archive,
			Object: object, ETag: req.ETag, LastModified: req.LastModified, NoResend: req.NoResend,
		},
	}
	if f.renderer != nil && spec.Renders(req.URL) != crawlspec.RenderNever {
		t.ask.Object = "" // the browser needs the whole document
	}
	t.bound()
	return t
}

// bound sets the limits of the request from the spec and the source of its host.
func (j *fetchJob) bound() {
	l := j.spec.HostLimits(weburl.Hostname(j.req.URL))
	j.ask.Timeout, j.ask.MaxBody = time.Duration(l.Timeout), int64(l.MaxBody)
	j.ask.Named = j.req.Sitemap || j.req.Depth == 0
}

// notToSend reports whether a request must not be sent, and sets the reply: the crawl was
// cancelled, or the spec requires something that is missing.
func (f *Fetcher) notToSend(t *fetchJob) bool {
	if err := t.spec.Blocked(); err != nil {
		t.reply = httpclient.Unsent(httpclient.Failf(messages.ClassCancelled, "%v", err))
		return true
	}
	if _, state := t.spec.HostPoliteness(weburl.Hostname(t.req.URL)); state == crawlspec.Cancelled {
		t.reply = httpclient.Unsent(httpclient.Failf(messages.ClassCancelled, "the crawl, or this host of the crawl, was cancelled"))
		return true
	}
	return f.lacks(t)
}

// lacks reports whether the spec requires something that this fetcher or the URL lacks, and sets
// the reply.
func (f *Fetcher) lacks(t *fetchJob) bool {
	t.ask.Policy = f.policies.Get(t.req.Crawl, t.spec.Spec)
	lack := t.ask.Policy.Lacks(t.ask.URL)
	if lack != nil {
		t.reply = httpclient.Unsent(lack)
	}
	return lack != nil
}

// release frees the memory of the body.
func (j *fetchJob) release() {
	if j.reply != nil {
		j.reply.Release()
	}
}

// fetch uses the turn for robots.txt, for the page, or for both if the host has no delay. It
// returns an error only if ctx is done, or httpclient.ErrNotSent.
func (f *Fetcher) fetch(ctx context.Context, t *fetchJob) error {
	if t.spec.Robots == crawlspec.RobotsObey {
		if err := f.checkRobots(ctx, t); err != nil || t.reply != nil {
			return err
		}
	}
	if err := f.doExchange(ctx, t); err != nil {
		return err
	}
	if err := f.followSelfRedirects(ctx, t); err != nil {
		return err
	}
	return rendering{f}.renderPage(ctx, t)
}

// doExchange does one exchange. It returns an error only if ctx is done, or httpclient.ErrNotSent.
func (f *Fetcher) doExchange(ctx context.Context, t *fetchJob) error {
	r, err := f.get.Do(ctx, &t.ask)
	t.reply = r
	f.tellWithheld(t)
	if err != nil {
		return err
	}
	return ctx.Err()
}

// tellWithheld logs, once for an origin and a revision of the spec, that credentials are not sent
// there.
func (f *Fetcher) tellWithheld(t *fetchJob) {
	why := t.ask.Policy.Withheld(t.ask.URL)
	if why == "" || f.bus == nil { // Single reports this to its caller
		return
	}
	key := fmt.Sprint(t.req.Crawl, " ", t.spec.Rev, " ", weburl.Origin(t.ask.URL))
	if _, done := f.loggedSecrets.Get(key); !done {
		f.loggedSecrets.Put(key, true)
		f.bus.Log.Warn("credentials are not sent", "crawl", t.req.Crawl, "reason", why)
	}
}
