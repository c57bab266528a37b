package state

// A visit whose page has left PAGES before a parser had it is never ended by a message. The partition cannot see that alone:
// its loop has the visits that are parsed counted at a moment, finds out that no page of before can be with a parser any more,
// and has those that are still counted then fetched again.

// CountParsing counts the visits that are parsed now, and returns their number. It leaves out crawls under review, which may be about
// to be found.
func (p *Partition) CountParsing() int64 {
	p.urls.parsingAt = p.time.now()
	for _, c := range p.crawls.active {
		if c.unparsed = c.Parsing; c.Review != nil {
			c.unparsed = 0
		}
	}
	return p.Unparsed()
}

// Unparsed returns how many of the visits of the last CountParsing are still parsed.
func (p *Partition) Unparsed() (n int64) {
	for _, c := range p.crawls.active {
		n += c.unparsed
	}
	return n
}

// FetchUnparsed has the visits of the last CountParsing that are still parsed fetched again: their pages are gone. A review finds
// them.
func (p *Partition) FetchUnparsed() {
	for _, c := range p.crawls.active {
		if c.unparsed <= 0 {
			continue
		}
		c.lostBefore = p.urls.parsingAt
		if c.Review == nil { // or the next count finds what that has passed
			c.Review, c.dirty = &sweep{}, true
		}
	}
}

// maxLostPages is how many requests for a URL may end without a failure before its visit fails because its page is lost.
const maxLostPages = 10

// fetchLost has a URL fetched again if its page is gone. That is another visit: a repeat of the first result does not count for it, and
// an owner with an older state knows its request and its result as newer ones. Its attempts continue the count, for maxLostPages.
func (v *visits) fetchLost(r *urlRecord, id urlID, rules *Rules, now int64) error {
	if r.Due >= v.crawls.get(id.crawl).lostBefore {
		return nil
	}
	if r.Sent-r.Failures >= maxLostPages {
		return v.fail(r, id, "its page left the stream PAGES before it was parsed", rules, now)
	}
	v.log.Info("page was lost before it was parsed, fetching it again", "crawl", id.crawl, "url", r.URL, "visit", r.visit(id.hash))
	sent := r.Sent - r.Failures
	r.nextRound(v.era())
	r.Sent = sent
	r.forgetPage()
	return v.admit(r, id, rules, now)
}

// forgetPage forgets what is known of the last page, which is lost: the next must be complete.
func (v *lastVisit) forgetPage() { v.ETag, v.LastModified, v.Digest = "", "", 0 }
