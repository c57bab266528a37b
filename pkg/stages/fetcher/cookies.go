package fetcher

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"

	"github.com/maypok86/otter/v2"

	"seine/internal/weburl"
)

// Bounds of the cookies kept, RFC 6265 6.1 being the least that a browser must.
const (
	maxJars      = 1 << 14 // hosts
	maxPerHost   = 50
	maxCookie    = 4096 // bytes of name, value and attributes
	jarWithCrawl = "\x00"
)

// jars keep the cookies of each host for each crawl, apart from all others: what
// a host sets for its domain comes back to that host only.
type jars struct {
	byHost *otter.Cache[string, *jar]
}

// jar is the cookies of one host.
type jar struct {
	mu    sync.Mutex
	jar   *cookiejar.Jar
	names map[string]bool
}

func newJars() (*jars, error) {
	c, err := otter.New(&otter.Options[string, *jar]{MaximumSize: maxJars})
	if err != nil {
		return nil, fmt.Errorf("make the cache of cookies: %w", err)
	}
	return &jars{c}, nil
}

// of returns the cookies for a URL, as a header has them; "" is none.
func (s *jars) of(crawl, target string) string {
	j, ok := s.byHost.GetIfPresent(crawl + jarWithCrawl + weburl.Host(target))
	u, err := url.Parse(target)
	if !ok || err != nil {
		return ""
	}
	r := http.Request{Header: make(http.Header)}
	for _, c := range j.jar.Cookies(u) {
		r.AddCookie(c)
	}
	return r.Header.Get("Cookie")
}

// set takes the cookies of a response, as many as there is room for.
func (s *jars) set(crawl, target string, h http.Header) {
	if len(h["Set-Cookie"]) == 0 {
		return
	}
	u, err := url.Parse(target)
	if err != nil {
		return
	}
	j, err := s.jar(crawl + jarWithCrawl + weburl.Host(target))
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var fit []*http.Cookie
	for _, c := range (&http.Response{Header: h}).Cookies() {
		key := c.Name + ";" + c.Domain + ";" + c.Path
		if len(c.Raw) > maxCookie || !j.names[key] && len(j.names) >= maxPerHost {
			continue
		}
		j.names[key] = true
		fit = append(fit, c)
	}
	j.jar.SetCookies(u, fit)
}

func (s *jars) jar(key string) (*jar, error) {
	return s.byHost.Get(context.Background(), key, otter.LoaderFunc[string, *jar](func(context.Context, string) (*jar, error) {
		j, err := cookiejar.New(nil)
		return &jar{jar: j, names: make(map[string]bool)}, err
	}))
}
