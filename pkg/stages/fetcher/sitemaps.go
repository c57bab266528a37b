package fetcher

import (
	"fmt"
	"strings"

	"github.com/maypok86/otter/v2"
	"github.com/nats-io/nats.go"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// announcedSitemaps remembers of which origins the frontier has the sitemaps, for each run of
// a crawl. What it forgets is said again, which the frontier does not mind.
type announcedSitemaps struct {
	origins *otter.Cache[string, bool]
}

const (
	maxTold = 1 << 16
	// maxSitemaps bounds how many one robots.txt may name.
	maxSitemaps = 500
)

func newAnnouncedSitemaps() (*announcedSitemaps, error) {
	c, err := otter.New(&otter.Options[string, bool]{MaximumSize: maxTold})
	if err != nil {
		return nil, fmt.Errorf("make the cache of origins: %w", err)
	}
	return &announcedSitemaps{c}, nil
}

// sitemaps returns the messages that tell the frontier of the sitemaps in
// robots.txt, and what to do when they are stored. They are as near to the
// seeds as the page for which robots.txt was asked.
func (f *Fetcher) sitemaps(t *fetchJob) (msgs []*nats.Msg, done func()) {
	if !t.spec.Sitemaps || t.robots == nil {
		return nil, nil
	}
	origin := weburl.Origin(t.req.URL)
	key := fmt.Sprint(t.req.Crawl, " ", t.req.Run, " ", origin)
	base, err := weburl.NewBase(origin + "/robots.txt")
	if _, said := f.told.origins.GetIfPresent(key); said || err != nil {
		return nil, nil
	}
	for i, text := range t.robots.Sitemaps() {
		if u, err := base.Resolve(weburl.EscapeInvalid(strings.TrimSpace(text))); err == nil && i < maxSitemaps {
			c := &messages.Candidates{Source: messages.SourceLink, Depth: t.req.Depth}
			c.InheritFrom(t.req.Metadata, t.req.Inherit)
			msgs = append(msgs, f.candidateMsg(t, messages.Candidate{URL: u, Sitemap: true}, c))
		}
	}
	return msgs, func() { f.told.origins.Set(key, true) }
}
