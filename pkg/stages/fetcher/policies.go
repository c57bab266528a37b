package fetcher

import (
	"seine/internal/base/recent"
	"seine/pkg/crawlspec"
	"seine/pkg/stages/fetcher/httpclient"
)

// policyCache keeps what the client makes of the spec of each crawl.
type policyCache struct {
	client  *httpclient.Client
	byCrawl recent.Cache[string, *httpclient.Policy]
}

// of returns the policy for a spec of a crawl.
func (c *policyCache) of(crawl string, spec *crawlspec.Spec) *httpclient.Policy {
	if p, ok := c.byCrawl.Get(crawl); ok && p.Current(spec) {
		return p
	}
	p := c.client.Compile(spec)
	c.byCrawl.Put(crawl, p)
	return p
}
