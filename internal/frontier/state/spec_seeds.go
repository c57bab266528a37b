package state

import "seine/pkg/messages"

// The owner of each partition publishes the seeds of a spec that belong to
// it as messages on URLS: so they are in the stream from which a lost state is made
// again. Each says which list it is of, and the last one that it is the last. Until that is
// applied, the owner of the partition publishes them again; repeats change nothing.
//
// They are not kept as the seeds of people are, so the next run begins without those that
// were taken out of the list.

// SpecSeeds finds the seeds of specs that belong to the partition, and keeps them as messages until they are published on URLS.
type SpecSeeds struct {
	*base
	pending []*messages.Candidates
}

// seeding is the list of seeds of the spec that a crawl has received.
type seeding struct {
	List uint64 `json:"list,omitempty"` // 0 is none
	// Due says that it was not yet.
	Due bool `json:"due,omitempty"`
}

// ownSeeds are the seeds of a spec that belong to the partition.
func (s *SpecSeeds) ownSeeds(rules *Rules) (own []messages.Candidate) {
	for _, c := range rules.seeds.URLs {
		if messages.Partition(c.URL, s.partitions) == s.partition {
			own = append(own, c)
		}
	}
	return own
}

// mustFeedSeeds reports whether the crawl was not fed the seeds of its spec.
func (c *crawl) mustFeedSeeds(rules *Rules) bool {
	return !rules.Stalled && (c.Seeding.Due || c.Seeding.List != rules.seeds.Fingerprint)
}

// awaitsSeeds reports whether a crawl without seeds is still to receive those of its spec.
func (c *crawl) awaitsSeeds() bool { return !c.known() && c.rules != nil && c.mustFeedSeeds(c.rules) }

// feedSeeds feeds the crawl the seeds of its spec: see partitionLoop.postSeeds of package frontier. It notes in
// the state of a crawl that is known that this is to be done.
func (s *SpecSeeds) feedSeeds(name string, c *crawl, rules *Rules) {
	list := rules.seeds.Fingerprint
	if c.Seeding.List != list {
		c.Seeding, c.dirty = seeding{list, true}, true
	}
	if list != 0 && c.seedsSent == list {
		return
	}
	c.seedsSent = list
	own := s.ownSeeds(rules)
	if len(own) == 0 {
		c.Seeding.Due, c.dirty = false, true
		return
	}
	s.log.Info("adding the seeds of the spec to the crawl", "crawl", name, "revision", rules.Rev, "seeds", len(own))
	s.pending = append(s.pending, seedMessages(name, rules, s.era(), own)...)
}

// seedMessages makes messages of seeds of a spec, to be stored in that order.
func seedMessages(crawl string, rules *Rules, era uint64, urls []messages.Candidate) (all []*messages.Candidates) {
	for _, some := range messages.Batches(urls, 32<<10) {
		all = append(all, &messages.Candidates{Crawl: crawl, Rev: rules.Rev, Source: messages.SourceSeed, SeedList: rules.seeds.Fingerprint, Era: era, URLs: some})
	}
	all[len(all)-1].SeedListEnd = true
	return all
}

// noteSeeds records that a message with seeds of a spec is applied. One of a list that
// is no longer current is an earlier owner's.
func (d *discovery) noteSeeds(m *messages.Candidates, rules *Rules) {
	if c := d.crawls.get(m.Crawl); m.SeedListEnd && m.SeedList == rules.seeds.Fingerprint && c.known() {
		c.Seeding, c.dirty = seeding{List: m.SeedList}, true
	}
}

// Pending are messages with seeds of specs, to be published on URLS in this order.
func (s *SpecSeeds) Pending() []*messages.Candidates { return s.pending }

// MarkTaken says that they will be.
func (s *SpecSeeds) MarkTaken() { s.pending = nil }
