package fetcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/singleflight"

	"seine/internal/robots"
	"seine/internal/weburl"
	"seine/pkg/messages"
)

// bucket is where robots.txt files are shared between fetchers: a KV bucket
// that forgets them after messages.RobotsAge. Its methods are safe for
// concurrent use, and a repeat is harmless.
type bucket interface {
	Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error)
	Put(ctx context.Context, key string, value []byte) (uint64, error)
}

// robotsEntry is a robots.txt as it is stored. Only what says something of the
// site is: a file, or that there is none. The body is base64, because a file
// may hold any bytes.
type robotsEntry struct {
	Origin    string    `json:"origin"`
	Status    int       `json:"status"`
	FetchedAt time.Time `json:"fetched_at"`
	Body      []byte    `json:"body,omitempty"`
}

func (e *robotsEntry) expires() time.Time { return e.FetchedAt.Add(messages.RobotsAge) }

// robotsKey is the key of an origin in the bucket.
func robotsKey(origin string) string { return messages.HashURL(origin).String() }

// robotsFile is a robots.txt in memory.
type robotsFile struct {
	*robots.File
	until  time.Time
	weight uint32
}

// maxRobotsMemory bounds the files in memory, counted as a few times their
// size on the wire.
const maxRobotsMemory = 64 << 20

// robotsCache finds the robots.txt of an origin: in memory, in the bucket, at
// the host itself.
//
// A host that cannot be asked (5xx, no connection) is off limits for now,
// RFC 9309 2.3.1.4: the page's own result says so in a retryable class, and the
// frontier's waits between attempts decide when robots.txt is tried again. The
// failure itself is not remembered, and not given up on after some days either.
type robotsCache struct {
	client *client
	bucket bucket
	warn   func(msg string, args ...any)
	files  *otter.Cache[string, *robotsFile]
	flight singleflight.Group
}

func newRobotsCache(c *client, warn func(string, ...any)) (*robotsCache, error) {
	files, err := otter.New(&otter.Options[string, *robotsFile]{
		MaximumWeight: maxRobotsMemory,
		Weigher:       func(_ string, f *robotsFile) uint32 { return f.weight },
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of robots.txt: %w", err)
	}
	return &robotsCache{client: c, warn: warn, files: files}, nil
}

// found is what a look-up ended with: a file, or the exchange that says why
// there is none to be had.
type found struct {
	file *robotsFile
	last *reply // of the exchange with the host, nil if there was none
}

// get returns the robots.txt for the page that a asks for. It returns an error
// only if ctx is done.
func (c *robotsCache) get(ctx context.Context, a *ask) (found, error) {
	origin := weburl.Origin(a.url)
	if f, ok := c.files.GetIfPresent(origin); ok && time.Now().Before(f.until) {
		robotsMemory.Inc()
		return found{file: f}, nil
	}
	key := origin
	if a.private {
		key = "private " + origin // the other kind may end at the guard
	}
	v, err, _ := c.flight.Do(key, func() (any, error) { return c.find(ctx, origin, a) })
	if err != nil {
		return found{}, err
	}
	return v.(found), nil
}

// find looks in the bucket, then asks the host.
func (c *robotsCache) find(ctx context.Context, origin string, a *ask) (found, error) {
	if e := c.stored(ctx, origin); e != nil {
		robotsBucket.Inc()
		return found{file: c.remember(e)}, nil
	}
	e, last, err := c.fetch(ctx, origin, a)
	if err != nil {
		return found{}, err
	}
	if e == nil {
		robotsUnreachable.Inc()
		return found{last: last}, nil
	}
	robotsHost.Inc()
	c.store(ctx, e)
	return found{file: c.remember(e), last: last}, nil
}

// stored returns what the bucket has for origin, nil if that is nothing or the
// bucket cannot be read: to ask the host once more is the lesser evil.
func (c *robotsCache) stored(ctx context.Context, origin string) *robotsEntry {
	kv, err := c.bucket.Get(ctx, robotsKey(origin))
	if err != nil {
		if !errors.Is(err, jetstream.ErrKeyNotFound) && ctx.Err() == nil {
			c.warn("cannot read robots.txt from its bucket", "origin", origin, "error", err)
		}
		return nil
	}
	var e robotsEntry
	if json.Unmarshal(kv.Value(), &e) != nil || e.Origin != origin || !time.Now().Before(e.expires()) {
		return nil
	}
	return &e
}

func (c *robotsCache) store(ctx context.Context, e *robotsEntry) {
	value, err := json.Marshal(e)
	if err == nil {
		_, err = c.bucket.Put(ctx, robotsKey(e.Origin), value)
	}
	if err != nil && ctx.Err() == nil {
		c.warn("cannot share robots.txt with other fetchers", "origin", e.Origin, "error", err)
	}
}

func (c *robotsCache) remember(e *robotsEntry) *robotsFile {
	f := &robotsFile{File: robots.AllowAll(), until: e.expires(), weight: uint32(1024 + 4*len(e.Body))}
	if len(e.Body) > 0 {
		f.File = robots.Parse(e.Body)
	}
	c.files.Set(e.Origin, f)
	return f
}

// maxRobotsHops is how many redirects in a row are followed, RFC 9309 2.3.1.2.
const maxRobotsHops = 5

// fetch asks the host, by way of redirects. It returns nil for the entry when
// the host could not be asked, and the last exchange in any case.
func (c *robotsCache) fetch(ctx context.Context, origin string, page *ask) (*robotsEntry, *reply, error) {
	a := *page
	// One byte more than counts, so that the line it cuts is seen to be cut.
	a.url, a.robots, a.maxBody = origin+"/robots.txt", true, robots.MaxBytes+1
	a.etag, a.lastModified = "", "" // they are the page's
	for hop := 0; ; hop++ {
		r, err := c.client.do(ctx, &a)
		if err != nil {
			return nil, nil, err
		}
		r.loan.release() // parsed and forgotten below, at most 500 KiB
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if next, ok := redirected(&a, r); ok && hop < maxRobotsHops {
			a.url = next
			continue
		}
		return verdict(origin, r), r, nil
	}
}

// redirected returns where a redirect of a robots.txt leads.
func redirected(a *ask, r *reply) (string, bool) {
	if r.class != messages.Redirect {
		return "", false
	}
	next, err := resolve(a.url, r.header.Get("Location"))
	return next, err == nil
}

// verdict says what an answer means, RFC 9309 2.3.1: nil that the host could
// not be asked. Redirects that lead nowhere and most 4xx mean that there is no
// robots.txt; 429 is none of these, since it only asks for patience.
func verdict(origin string, r *reply) *robotsEntry {
	e := &robotsEntry{Origin: origin, Status: r.status, FetchedAt: r.started.UTC()}
	switch r.class {
	case messages.OK:
		e.Body = r.body
		return e
	case messages.Redirect, messages.ClientError, messages.Gone, messages.NotModified:
		return e
	}
	if r.status >= 400 && r.status < 500 && r.status != 429 {
		return e
	}
	return nil
}

var _ bucket = jetstream.KeyValue(nil)
