package parser

import (
	"cmp"
	"maps"
	"slices"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// batchKey identifies URLs that are sent together: to a partition, with one depth.
type batchKey struct{ partition, depth int }

// links distributes the page's links to the partitions. It omits links that this process has
// published before with at most the same depth, unless the frontier keeps the links of the page and
// needs all of them. The message that ends the visit is published when all others are stored.
func (p *Parser) links(r *parsedPage, own int) stages.Output {
	page, from := r.page, origin{messages.Incarnation(r.page.Crawl, r.page.Visit.Incarnation()), r.page.Run}
	batches := make(map[batchKey][]messages.Candidate)
	var fresh []discoveredLink
	keeps := r.plan.spec.KeepsLinks(page)
	for _, f := range r.follow {
		f.depth = min(max(f.depth, 0), messages.MaxDepth)
		if f.Priority == nil && !f.Sitemap && !keeps && p.sent.has(from, f.URL, f.depth) {
			continue
		}
		fresh = append(fresh, f)
		to := batchKey{messages.Partition(f.URL, p.bus.Layout.Partitions), f.depth}
		batches[to] = append(batches[to], f.Candidate)
	}
	linksSent.Add(float64(len(fresh)))
	linksKnown.Add(float64(len(r.follow) - len(fresh)))
	out := stages.Output{Done: func() { p.sent.add(from, fresh) }}
	parts := make(map[int]int) // messages to each partition
	batch := func(to batchKey, urls []messages.Candidate) *messages.Candidates {
		c := &messages.Candidates{
			Crawl: page.Crawl, Rev: page.Rev, Source: messages.SourceLink, Referrer: page.URL, Depth: to.depth,
			Run: page.Run, Era: messages.EraOf(page.Visit.Round), URLs: urls,
		}
		if len(urls) > 0 {
			c.InheritFrom(page.Metadata, page.Inherit)
		}
		if keeps {
			c.PageRound, c.PagePart, c.PageDepth = page.Visit.Round, parts[to.partition], page.Depth
			parts[to.partition]++
		}
		return c
	}
	end := batchKey{own, min(page.Depth+1, messages.MaxDepth)}
	for _, to := range slices.SortedFunc(maps.Keys(batches), comparePlaces) {
		all := messages.Batches(batches[to], messages.BatchBytes(p.bus.MaxPayload()))
		if to == end {
			batches[to], all = all[len(all)-1], all[:len(all)-1]
		}
		for _, some := range all {
			out.First = append(out.First, urlsMsg(to.partition, batch(to, some)))
		}
	}
	last := batch(end, batches[end])
	if page.Part == messages.PartCapture { // no visit ends
		if len(last.URLs) > 0 {
			out.First = append(out.First, urlsMsg(own, last))
		}
		return out
	}
	last.Ends, last.Content, last.Warning, last.Records = page.Visit, r.scanned.Content, r.warning, r.kinds()
	last.LeftOut = r.leftOut
	if len(out.First) > 0 {
		out.Then = append(out.Then, urlsMsg(own, last))
	} else {
		out.First = append(out.First, urlsMsg(own, last))
	}
	return out
}

func comparePlaces(a, b batchKey) int {
	return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.depth, b.depth))
}

func urlsMsg(p int, c *messages.Candidates) *nats.Msg {
	return &nats.Msg{Subject: messages.SubjectURLs(c.Source, c.Crawl, p), Data: c.Encode()}
}
