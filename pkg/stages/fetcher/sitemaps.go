package fetcher

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// maxSitemaps bounds how many one robots.txt may name.
const maxSitemaps = 500

// sitemaps returns the messages that tell the frontier of the sitemaps in
// robots.txt, and what to do when they are stored. They are as near to the
// seeds as the page for which robots.txt was asked.
func (co composer) sitemaps(t *fetchJob) (msgs []*nats.Msg, done func()) {
	if !t.spec.Sitemaps || t.robots == nil || t.req.Sitemap { // the sitemap may be on a host that the crawl is not for
		return nil, nil
	}
	origin := weburl.Origin(t.req.URL)
	key := fmt.Sprint(t.req.Crawl, " ", t.req.Run, " ", origin)
	base, err := weburl.NewBase(origin + "/robots.txt")
	if _, done := co.sentSitemaps.Get(key); done || err != nil {
		return nil, nil
	}
	for i, text := range t.robots.Sitemaps() {
		if u, err := base.Resolve(weburl.EscapeInvalid(strings.TrimSpace(text))); err == nil && i < maxSitemaps {
			c := &messages.Candidates{Source: messages.SourceLink, Depth: t.req.Depth}
			c.InheritFrom(t.req.Metadata, t.req.Inherit)
			msgs = append(msgs, co.candidateMsg(t, messages.Candidate{URL: u, Sitemap: true}, c))
		}
	}
	return msgs, func() { co.sentSitemaps.Put(key, true) }
}
