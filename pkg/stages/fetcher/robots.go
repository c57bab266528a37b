package fetcher

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/singleflight"

	"seine/internal/base/jsontext"
	"seine/internal/base/recent"
	"seine/internal/base/sleep"
	"seine/internal/base/weburl"
	"seine/internal/fetch/robots"
	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher/httpclient"
)

// This file fetches and caches robots.txt; robots_check.go applies it to the requests of a crawl.

// bucket is where fetchers share robots.txt files: a KV bucket that forgets them after
// messages.RobotsStale. Its methods are safe for concurrent use.
type bucket interface {
	Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error)
	Put(ctx context.Context, key string, value []byte) (uint64, error)
	jsclient.KeyStore
}

// robotsEntry is a stored robots.txt. Only conclusive responses are stored: a file, or that there
// is none. The body is base64, because a file may hold any bytes.
type robotsEntry struct {
	Origin    string    `json:"origin"`
	Status    int       `json:"status,omitempty"`
	FetchedAt time.Time `json:"fetched_at,omitzero"` // zero if it was never fetched
	Body      []byte    `json:"body,omitempty"`
	// Asking is the latest end of the current request for the file.
	Asking time.Time `json:"asking,omitzero"`
	// Retry is when the host is asked again, if it could not be asked when the file had expired.
	Retry time.Time `json:"retry,omitzero"`
}

// until returns how long the entry may be used without asking the host.
func (e *robotsEntry) until() time.Time {
	fresh := e.FetchedAt.Add(messages.RobotsAge)
	if e.Retry.After(fresh) {
		return e.Retry
	}
	return fresh
}

// stale reports whether the entry may be used while the host cannot be asked.
func (e *robotsEntry) stale(now time.Time) bool {
	return e != nil && now.Before(e.FetchedAt.Add(messages.RobotsStale))
}

// robotsKey is the key of an origin in the bucket.
func robotsKey(origin string) string { return messages.HashURL(origin).String() }

// robotsFile is a robots.txt in memory.
type robotsFile struct {
	*robots.File
	until  time.Time
	weight int
}

// maxRobotsMemory bounds the files in memory, counted as a multiple of their size on the wire.
const maxRobotsMemory = 64 << 20

// robotsCache finds the robots.txt of an origin: in memory, in the bucket, or at the host itself.
//
// A host that cannot be asked (5xx, no connection) is off limits for now, RFC 9309 2.3.1.4: the
// page gets a result with a retryable class, and the frontier's retry delays decide when robots.txt
// is tried again. If there is an expired copy of the file, that is used instead (2.4), for up to
// messages.RobotsStale.
//
// Only one fetcher requests the robots.txt of an origin at a time; the others wait for its result.
type robotsCache struct {
	host   exchanger
	bucket bucket
	log    *slog.Logger
	files  recent.Cache[string, *robotsFile]
	flight singleflight.Group
}

func newRobotsCache(host exchanger, log *slog.Logger) *robotsCache {
	return &robotsCache{
		host: host, log: log,
		files: recent.Cache[string, *robotsFile]{Most: maxRobotsMemory / 2, Weight: func(f *robotsFile) int { return f.weight }},
	}
}

// robotsLookup is the outcome of a look-up: a file, or the exchange that explains why there is
// none.
type robotsLookup struct {
	file *robotsFile
	last *httpclient.Reply // of the exchange with the host, nil if there was none
	// hops are all exchanges, including the last, for the archive. Only the turn in which the host
	// was asked has them.
	hops []*httpclient.Reply
}

// get returns the robots.txt for the page that a requests. It returns an error only if ctx is done,
// or httpclient.ErrNotSent, possibly of another page's request.
func (c *robotsCache) get(ctx context.Context, a *httpclient.Request) (robotsLookup, error) {
	origin := weburl.Origin(a.URL)
	if f, ok := c.files.Get(origin); ok && time.Now().Before(f.until) {
		robotsMemory.Inc()
		return robotsLookup{file: f}, nil
	}
	key := a.Policy.GuardKey() + " " + origin // another guard may refuse its address
	asks := false                             // this call fetches it, instead of waiting for another
	v, err, _ := c.flight.Do(key, func() (any, error) {
		asks = true
		return c.find(ctx, origin, a)
	})
	if err != nil {
		return robotsLookup{}, err
	}
	got := v.(robotsLookup)
	if !asks {
		got.hops = nil
	}
	return got, nil
}

// find reads the bucket, and requests the file from the host unless another fetcher does.
func (c *robotsCache) find(ctx context.Context, origin string, a *httpclient.Request) (robotsLookup, error) {
	for wait := minRobotsWait; ; wait = min(2*wait, maxRobotsWait) {
		e, revision := c.stored(ctx, origin)
		now := time.Now()
		switch {
		case e != nil && now.Before(e.until()):
			robotsBucket.Inc()
			return robotsLookup{file: c.remember(e)}, nil
		case e != nil && now.Before(e.Asking):
			if err := httpclient.Timed(waitRobots, func() error { return sleep.For(ctx, wait) }); err != nil {
				return robotsLookup{}, err
			}
		case c.lockOrigin(ctx, origin, e, revision, now.Add(min(a.Timeout, maxAsking))):
			return c.askHost(ctx, origin, a, e)
		}
	}
}

const (
	// maxAsking is how long others wait for the fetcher that asks the host, since it may have died.
	maxAsking = time.Minute
	// Waits between checks whether it is done.
	minRobotsWait = 10 * time.Millisecond
	maxRobotsWait = 500 * time.Millisecond
	// staleRetry is how long an old copy is used before the host is tried again.
	staleRetry = 10 * time.Minute
)

// askHost asks the host, and shares the outcome with other fetchers.
func (c *robotsCache) askHost(ctx context.Context, origin string, a *httpclient.Request, old *robotsEntry) (robotsLookup, error) {
	e, hops, err := c.fetch(ctx, origin, a)
	if err != nil {
		c.unclaim(origin, old)
		return robotsLookup{}, err
	}
	got := robotsLookup{last: hops[len(hops)-1], hops: hops}
	switch {
	case e != nil:
		robotsHost.Inc()
		c.store(ctx, e)
		got.file = c.remember(e)
		if notes := got.file.Notes(); len(notes) > 0 {
			c.log.Warn("robots.txt has lines that do not follow RFC 9309", "host", weburl.Host(origin+"/"), "lines", notes)
		}
		return got, nil
	case old.stale(time.Now()):
		robotsStale.Inc()
		old.Asking, old.Retry = time.Time{}, time.Now().Add(staleRetry).UTC()
		c.store(ctx, old)
		got.file = c.remember(old)
		return got, nil
	}
	robotsUnreachable.Inc()
	c.unclaim(origin, nil)
	return got, nil
}

// lockOrigin announces to other fetchers that this one asks the host. It returns false if another
// was faster. If the bucket does not work, each fetcher asks the host: one request more is the
// lesser evil.
func (c *robotsCache) lockOrigin(ctx context.Context, origin string, e *robotsEntry, revision uint64, until time.Time) bool {
	claimed := robotsEntry{Origin: origin}
	if e != nil {
		claimed = *e
	}
	claimed.Asking = until.UTC()
	_, err := jsclient.Swap(ctx, c.bucket, robotsKey(origin), messages.Encode(&claimed), revision)
	return !jsclient.IsConflict(err)
}

// unclaim lets another fetcher ask the host, even if the turn was cut short.
func (c *robotsCache) unclaim(origin string, old *robotsEntry) {
	ctx, cancel := context.WithTimeout(context.Background(), unclaimTimeout)
	defer cancel()
	if old == nil {
		old = &robotsEntry{Origin: origin}
	}
	old.Asking = time.Time{}
	c.store(ctx, old)
}

const unclaimTimeout = 2 * time.Second

// stored returns the bucket's entry for an origin and its revision; the entry is nil if there is
// none or the bucket cannot be read.
func (c *robotsCache) stored(ctx context.Context, origin string) (*robotsEntry, uint64) {
	kv, err := c.bucket.Get(ctx, robotsKey(origin))
	if err != nil {
		if !errors.Is(err, jetstream.ErrKeyNotFound) && ctx.Err() == nil {
			c.log.Warn("cannot read robots.txt from its bucket", "host", weburl.Host(origin+"/"), "error", err)
		}
		return nil, 0
	}
	var e robotsEntry
	if jsontext.Unmarshal(kv.Value(), &e) != nil || e.Origin != origin {
		return nil, kv.Revision()
	}
	return &e, kv.Revision()
}

func (c *robotsCache) store(ctx context.Context, e *robotsEntry) {
	_, err := c.bucket.Put(ctx, robotsKey(e.Origin), messages.Encode(e))
	if err != nil && ctx.Err() == nil {
		c.log.Warn("cannot share robots.txt with other fetchers", "host", weburl.Host(e.Origin+"/"), "error", err)
	}
}

func (c *robotsCache) remember(e *robotsEntry) *robotsFile {
	f := &robotsFile{File: robots.AllowAll(), until: e.until(), weight: 1024 + 4*len(e.Body)}
	if len(e.Body) > 0 {
		f.File = robots.Parse(e.Body)
	}
	c.files.Put(e.Origin, f)
	return f
}

// maxRobotsHops is how many consecutive redirects are followed, RFC 9309 2.3.1.2.
const maxRobotsHops = 5

// fetch requests the file from the host and follows redirects. It returns a nil entry if the host
// could not be asked. It always returns the exchanges. The last of them includes the data of those
// before, since the host's delay counts from it.
func (c *robotsCache) fetch(ctx context.Context, origin string, page *httpclient.Request) (_ *robotsEntry, hops []*httpclient.Reply, _ error) {
	a := *page
	// One byte over the limit, to detect that the last line is cut.
	a.URL, a.Robots, a.MaxBody = origin+"/robots.txt", true, robots.MaxBytes+1
	a.ETag, a.LastModified, a.Object = "", "", "" // they are for the page
	var before *httpclient.Reply
	for hop := 0; ; hop++ {
		r, err := c.host.Do(ctx, &a)
		if err != nil {
			return nil, nil, err
		}
		r.Release() // parsed and forgotten below, at most 500 KiB
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if before != nil {
			askedBefore(r, before)
		}
		hops = append(hops, r)
		next, ok := redirected(r)
		if !ok || hop == maxRobotsHops {
			return entryFromReply(origin, r), hops, nil
		}
		if weburl.Host(next) == weburl.Host(a.URL) { // the host's delay applies as always
			if err := httpclient.Timed(waitHost, func() error { return sleep.For(ctx, a.Spacing) }); err != nil {
				return nil, nil, err
			}
		}
		a.URL, before = next, r
	}
}

// entryFromReply interprets a response by RFC 9309 2.3.1; nil means that the host could not be
// asked. Redirects without a valid target and most 4xx mean that there is no robots.txt, except
// 429, which only asks to wait.
func entryFromReply(origin string, r *httpclient.Reply) *robotsEntry {
	e := &robotsEntry{Origin: origin, Status: r.Status, FetchedAt: r.Started.UTC()}
	switch r.Class {
	case messages.OK:
		e.Body = r.Body.Data
		return e
	case messages.Redirect, messages.ClientError, messages.Gone, messages.NotModified:
		return e
	}
	if r.Status >= 400 && r.Status < 500 && r.Status != 429 {
		return e
	}
	return nil
}

var _ bucket = jetstream.KeyValue(nil)
