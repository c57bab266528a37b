package state

import (
	"pgregory.net/rapid"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// drawSeeds draws the seeds that a spec lists.
func drawSeeds(t *rapid.T) (seeds []crawlspec.Seed) {
	urls := rapid.SampledFrom([][]string{
		nil, {"https://a.test/x1"}, {"https://b.test/w0"}, {"https://a.test/x1", "https://e.test/y3"}, {"https://f.test/"},
	}).Draw(t, "seeds")
	for _, url := range urls {
		seed := crawlspec.Seed{URL: url}
		if p := rapid.SampledFrom([]int{-1, -1, 0, 9}).Draw(t, "priority of the seed"); p >= 0 {
			seed.Priority = &p
		}
		seed.Metadata, seed.Inherit = drawMetadata(t)
		seeds = append(seeds, seed)
	}
	return seeds
}

// feedSeeds stores seeds of specs on URLS, as far as the process gets before it ends.
func (r *simEnv) feedSeeds(t turn) {
	batch := r.part.Seeds.pending
	r.part.Seeds.pending = nil
	if t.end == beforePublish || t.end == whilePublishes {
		batch = batch[:min(t.publish, len(batch))]
	}
	for _, m := range batch {
		r.feed(m)
	}
}

// checkSeeds: once a crawl has received the seeds of its spec, all of them are known, and the run
// has them, except a run over all URLs those that it omits.
func (m *model) checkSeeds(st *stored) {
	if m.part.crawls.specsGen != m.gen || m.restored {
		return
	}
	for name, spec := range m.specs {
		if m.unsown(name) || m.doomed(name) {
			continue
		}
		c := m.part.crawls.active[name]
		for _, s := range spec.Seeds {
			id := urlID{name, messages.HashURL(s.URL)}
			r := st.records[id]
			if r == nil || !r.Seed || c != nil && c.Reseed == nil && c.Again == 0 && r.Run < c.Run {
				m.Fatalf("crawl %s lists seed %s, and has %+v", name, s.URL, r)
			}
		}
	}
}

// unsown reports whether a crawl has not received all seeds of its spec.
func (r *simEnv) unsown(name string) bool {
	state, err := r.part.crawls.stateOf(name)
	r.must(err)
	return state.Seeding.Due || state.Seeding.List != r.compiled[name].seeds.Fingerprint
}
