package fetcher

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"seine/internal/base/weburl"
	"seine/pkg/messages"
)

// maxSitemaps bounds the sitemaps of one robots.txt.
const maxSitemaps = 500

// sitemaps returns the messages that add the sitemaps of robots.txt to the frontier, and a function
// to call when they are stored. They have the same depth as the page for which robots.txt was
// requested.
func (co composer) sitemaps(t *fetchJob) (msgs []*nats.Msg, done func()) {
	if !t.spec.Sitemaps || t.robots == nil || t.req.Sitemap { // a sitemap may be on a host that is not in the crawl's scope
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
