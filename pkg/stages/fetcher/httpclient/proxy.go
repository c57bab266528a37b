package httpclient

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"seine/internal/base/sleep"
	"seine/pkg/messages"
)

// proxy is one of the proxies of a spec, and its state.
type proxy struct {
	key string // its URL, including the password: never shown to users
	url *url.URL

	mu      sync.Mutex
	failed  rest // failures to connect through it
	refused rest // refusals by a site of requests through it
}

// rest is how long a proxy is not used.
type rest struct {
	inARow int
	until  time.Time
}

// How long a proxy rests after a failure or refusal: twice as long each time.
const (
	minProxyRest = time.Second
	maxProxyRest = 5 * time.Minute
)

func (r *rest) again() {
	r.inARow++
	r.until = time.Now().Add(min(minProxyRest<<min(r.inARow-1, 10), maxProxyRest))
}

// rests returns until when the proxy does not work, and until when others are preferred.
func (p *proxy) rests() (failed, refused time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed.until, p.refused.until
}

// ended records an exchange through the proxy.
func (p *proxy) ended(r *Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.Class == messages.ProxyFailure:
		p.failed.again()
		proxyFailures.Inc()
	case r.Class == messages.Blocked || r.Status == http.StatusForbidden:
		p.failed = rest{}
		p.refused.again()
	default:
		p.failed, p.refused = rest{}, rest{}
	}
}

// proxy returns the next proxy in turn that does not rest. If all rest, it prefers one that a site
// has refused: that proxy works, and the refusal has slowed the crawl. If all have failed, it waits
// for the first to recover, since no host caused these failures.
func (m *profile) proxy(ctx context.Context) (*proxy, error) {
	first := int(m.turn.Add(1)-1) % len(m.proxies)
	for {
		now := time.Now()
		var soonest time.Time
		var works *proxy
		for i := range m.proxies {
			p := m.proxies[(first+i)%len(m.proxies)]
			failed, refused := p.rests()
			switch {
			case !failed.After(now) && !refused.After(now):
				return p, nil
			case !failed.After(now) && works == nil:
				works = p
			case soonest.IsZero() || failed.Before(soonest):
				soonest = failed
			}
		}
		if works != nil {
			return works, nil
		}
		if err := Timed(waitProxy, func() error { return sleep.For(ctx, soonest.Sub(now)) }); err != nil {
			return nil, err
		}
	}
}

// maxProxyTries is how many proxies one turn may try. The host does not see failed tries.
const maxProxyTries = 3
