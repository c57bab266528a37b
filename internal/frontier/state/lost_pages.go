package state

// A visit whose page has left PAGES before a parser read it never gets the message that ends it.
// The partition cannot detect that alone. Its loop has the visits in Parsing counted, waits until
// no parser can hold a page from before the count, and has those that are still in Parsing fetched
// again.

// CountParsing counts the visits in Parsing and returns their number. It skips crawls under review,
// whose lost pages the review may be about to find.
func (p *Partition) CountParsing() int64 {
	p.urls.parsingAt = p.time.now()
	for _, c := range p.crawls.active {
		if c.unparsed = c.Parsing; c.Review != nil {
			c.unparsed = 0
		}
	}
	return p.Unparsed()
}

// Unparsed returns how many of the visits of the last CountParsing are still in Parsing.
func (p *Partition) Unparsed() (n int64) {
	for _, c := range p.crawls.active {
		n += c.unparsed
	}
	return n
}

// FetchUnparsed refetches the visits of the last CountParsing that are still in Parsing, as their
// pages are lost. A review finds them.
func (p *Partition) FetchUnparsed() {
	for _, c := range p.crawls.active {
		if c.unparsed <= 0 {
			continue
		}
		c.lostBefore = p.urls.parsingAt
		if c.Review == nil { // otherwise the next count finds the visits that the review has passed
			c.Review, c.dirty = &sweep{}, true
		}
	}
}

// maxLostPages limits how many requests for a URL may end without a failure before its visit fails
// because its page is lost.
const maxLostPages = 10

// fetchLost refetches a URL whose page is lost. The refetch is another visit: a repeated first
// result does not count for it, and an owner with an older state sees its request and result as
// newer. Its attempts continue the count for maxLostPages.
func (v *visits) fetchLost(r *urlRecord, id urlID, rules *Rules, now int64) error {
	if r.Due >= v.crawls.get(id.crawl).lostBefore {
		return nil
	}
	if r.Sent-r.Failures >= maxLostPages {
		return v.fail(r, id, "its page left the stream PAGES before it was parsed", rules, now)
	}
	v.log.Info("page was lost before it was parsed; fetching it again", "crawl", id.crawl, "url", r.URL, "visit", r.visit(id.hash))
	sent := r.Sent - r.Failures
	r.nextRound(v.era())
	r.Sent = sent
	r.forgetPage()
	return v.admit(r, id, rules, now)
}

// forgetPage clears the validators and digest of the lost page, so that the next response contains
// the page.
func (v *lastVisit) forgetPage() { v.ETag, v.LastModified, v.Digest = "", "", 0 }
