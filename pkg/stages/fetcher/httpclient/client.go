package httpclient

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"seine/internal/base/weburl"
	"seine/internal/fetch/cookies"
	"seine/internal/fetch/secrets"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Client makes HTTP exchanges, one for each call of Do. It follows no redirects. It is safe for
// concurrent use.
type Client struct {
	cfg      Config
	pace     *rateLimiter
	memory   *memoryLimiter
	decoded  decodedPool
	pools    *transportPools
	cookies  *cookies.Store
	bodies   LargeBodies
	compiler compiler

	// Causes with which the watch cancels an exchange.
	noFirstByte, stalled *Failure
}

// LargeBodies stores bodies that are too large to be held in memory. It is safe for concurrent use.
type LargeBodies interface {
	// Put stores a body while reading it. If that fails, nothing is stored.
	Put(ctx context.Context, name string, body io.Reader) error
}

// New returns a client. It stores large bodies of requests with an Object in bodies, which may be
// nil if no request has one.
func New(cfg Config, bodies LargeBodies, log *slog.Logger) (*Client, error) {
	idle, err := cfg.idleConns()
	if err != nil {
		return nil, err
	}
	pools := newTransportPools(cfg, newResolver(cfg), idle)
	return &Client{
		cfg: cfg, pace: newRateLimiter(cfg), pools: pools, cookies: cookies.NewStore(cookies.DefaultBytes), bodies: bodies,
		memory: newMemoryLimiter(int64(cfg.MaxInFlightBody), cfg.Workers), decoded: newDecodedPool(),
		noFirstByte: Failf(messages.Timeout, "no response within %s of the connection", cfg.FirstByteTimeout).in(messages.DetailFirstByte),
		stalled:     Failf(messages.Stalled, "the body stopped coming for %s", cfg.StallTimeout),
		compiler: compiler{
			accepts: accepts(cfg.Accept), pools: pools, log: log, secrets: secretStore{Store: secrets.Store{Folder: cfg.Secrets}},
		},
	}, nil
}

// Close closes the idle connections.
func (c *Client) Close() { c.pools.close() }

// Compile prepares the parts of a spec that all its requests share.
func (c *Client) Compile(spec *crawlspec.Spec) *Policy { return c.compiler.compile(spec) }

// ErrNotSent is returned for a request that was not sent because it was no longer valid when its
// turn came.
var ErrNotSent = errors.New("not sent: the request is no longer valid")

// Do waits for the turn of the request, sends it and reads the response. It returns an error only
// if ctx is done before the request could be sent, if it is ErrNotSent, or if the body could not be
// stored. If ctx is done later, the reply is a failure, which the caller must ignore. The caller
// must release the reply when its body is no longer used.
//
// It determines the access of the URL itself, so that none can remain from an earlier URL.
func (c *Client) Do(ctx context.Context, a *Request) (*Reply, error) {
	acc, err := a.Policy.access(a.URL, a.Robots)
	if err != nil {
		return Unsent(misfit(err)), nil
	}
	acc.cookie = c.CookieFor(a, a.URL)
	if err := c.pace.request(ctx, weburl.Host(a.URL), a.Spacing); err != nil {
		return nil, err
	}
	if len(acc.profile.proxies) == 0 {
		return c.exchange(ctx, a, acc, acc.profile.transport)
	}
	for try := 1; ; try++ {
		p, err := acc.profile.proxy(ctx)
		if err != nil {
			return nil, err
		}
		key := acc.profile.transport
		key.proxy = p.key
		r, err := c.exchange(ctx, a, acc, key)
		if err != nil {
			return nil, err
		}
		p.ended(r)
		if r.Class != messages.ProxyFailure || try >= min(maxProxyTries, len(acc.profile.proxies)) || ctx.Err() != nil {
			return r, nil
		}
		r.Release()
	}
}

// CookieFor returns the Cookie field that the request would have now if it were for url: the kept
// cookies, without those in the spec's header.
func (c *Client) CookieFor(a *Request, url string) string {
	if !a.Policy.KeepsCookies(url) {
		return ""
	}
	return c.cookies.Header(a.CookieJar, url)
}
