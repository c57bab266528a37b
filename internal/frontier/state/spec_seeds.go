package state

import "seine/pkg/messages"

// The owner of each partition publishes the spec's seeds of its partition as messages on URLS. So
// the seeds are in the stream from which a lost state is rebuilt. Each message names its list, and
// the last one is marked as the last. Until that one is applied, the owner of the partition
// publishes the messages again; repeats change nothing.
//
// They are not kept like submitted seeds, so the next run begins without those that were removed
// from the list.

// SpecSeeds finds the seeds of specs that belong to the partition, and keeps them as messages until
// they are published on URLS.
type SpecSeeds struct {
	*base
	pending []*messages.Candidates
}

// seeding is the crawl's progress with the seeds of its spec.
type seeding struct {
	List uint64 `json:"list,omitempty"` // fingerprint of the list; 0 means none
	// Due says that the crawl has not received the whole list yet.
	Due bool `json:"due,omitempty"`
}

// ownSeeds returns the seeds of a spec that belong to the partition.
func (s *SpecSeeds) ownSeeds(rules *Rules) (own []messages.Candidate) {
	for _, c := range rules.seeds.URLs {
		if messages.Partition(c.URL, s.partitions) == s.partition {
			own = append(own, c)
		}
	}
	return own
}

// mustFeedSeeds reports whether the crawl has not received the current seeds of its spec.
func (c *crawl) mustFeedSeeds(rules *Rules) bool {
	return !rules.Stalled && (c.Seeding.Due || c.Seeding.List != rules.seeds.Fingerprint)
}

// awaitsSeeds reports whether an unknown crawl is still to receive the seeds of its spec.
func (c *crawl) awaitsSeeds() bool { return !c.known() && c.rules != nil && c.mustFeedSeeds(c.rules) }

// feedSeeds prepares the spec's seeds for publication: see partitionLoop.postSeeds of package
// frontier. It records in the crawl's state that they are due.
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

// seedMessages splits the seeds of a spec into messages, to be stored in that order.
func seedMessages(crawl string, rules *Rules, era uint64, urls []messages.Candidate) (all []*messages.Candidates) {
	for _, some := range messages.Batches(urls, 32<<10) {
		all = append(all, &messages.Candidates{Crawl: crawl, Rev: rules.Rev, Source: messages.SourceSeed, SeedList: rules.seeds.Fingerprint, Era: era, URLs: some})
	}
	all[len(all)-1].SeedListEnd = true
	return all
}

// noteSeeds records that the last message with the spec's seeds is applied. It ignores lists that
// are no longer current, which an earlier owner sent.
func (d *discovery) noteSeeds(m *messages.Candidates, rules *Rules) {
	if c := d.crawls.get(m.Crawl); m.SeedListEnd && m.SeedList == rules.seeds.Fingerprint && c.known() {
		c.Seeding, c.dirty = seeding{List: m.SeedList}, true
	}
}

// Pending returns messages with seeds of specs, to be published on URLS in this order.
func (s *SpecSeeds) Pending() []*messages.Candidates { return s.pending }

// MarkTaken records that the pending messages will be published.
func (s *SpecSeeds) MarkTaken() { s.pending = nil }
