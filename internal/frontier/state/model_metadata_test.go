package state

import (
	"maps"

	"pgregory.net/rapid"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// label is the model's metadata of a URL.
type label struct {
	origin   origin
	metadata messages.Metadata
	inherit  bool
	rev      uint64
}

// drawMetadata draws the metadata of a seed, mostly none.
func drawMetadata(t *rapid.T) (messages.Metadata, bool) {
	m := rapid.SampledFrom([]messages.Metadata{nil, nil, {"a": "1"}, {"a": "2", "b": ""}}).Draw(t, "metadata")
	return m, m != nil && rapid.Bool().Draw(t, "inherit")
}

// label draws metadata for a message.
func (g *simDriver) label(m *messages.Candidates) {
	switch m.Source {
	case messages.SourceSeed:
		for i := range m.URLs {
			c := &m.URLs[i]
			if c.Metadata, c.Inherit = drawMetadata(g.T); c.Metadata == nil && draw(g, "take it away", false, false, true) {
				c.Metadata = messages.Metadata{}
			}
		}
	case messages.SourceRedirect:
		m.Metadata, m.Inherit = drawMetadata(g.T)
	default:
		m.InheritFrom(drawMetadata(g.T))
	}
}

// labelled records the metadata that a message has for a URL.
func (m *model) labelled(c *messages.Candidates, u *messages.Candidate, id urlID, known bool) {
	had, has := m.labels[id]
	isFed := has && had.origin == fed
	switch {
	case c.Source == messages.SourceSeed && c.SeedList != 0 && isFed && had.rev > c.Rev:
	case c.Source == messages.SourceSeed && len(u.Metadata) > 0:
		m.labels[id] = label{fed, u.Metadata, u.Inherit, c.Rev}
	case c.Source == messages.SourceSeed && (u.Metadata != nil || c.SeedList != 0 && isFed):
		delete(m.labels, id)
	case c.Source == messages.SourceRedirect && c.Metadata != nil && !isFed:
		m.labels[id] = label{redirected, c.Metadata, c.Inherit, 0}
	case c.Source == messages.SourceLink && c.Metadata != nil && !known:
		m.labels[id] = label{inherited, c.Metadata, true, 0}
	}
}

// sentLabel compares the metadata of a request with that of its URL.
func (m *model) sentLabel(wire *messages.Request) {
	id := urlID{wire.Crawl, wire.Visit.URL}
	if want := m.labels[id]; !maps.Equal(wire.Metadata, want.metadata) || wire.Inherit != want.inherit {
		m.Fatalf("%s was sent with %v (inherited: %v), want %+v", m.describe(id), wire.Metadata, wire.Inherit, want)
	}
}

// checkLabels: each URL has the expected metadata, and no other URL has any.
func (m *model) checkLabels(st *stored) {
	if m.restored {
		return
	}
	for id := range m.labels {
		if st.labels[id] == nil && !m.doomed(id.crawl) {
			m.Fatalf("%s should have %+v, and has no metadata", m.describe(id), m.labels[id])
		}
	}
	for id, got := range st.labels {
		if m.doomed(id.crawl) {
			continue
		}
		want, text := m.labels[id], got.text
		if got.origin == inherited {
			var err error
			text, err = m.store.get(m.part.urls.inheritedKey(id.crawl, got.text))
			m.must(err)
		}
		var all messages.Metadata
		m.must(jsontext.Unmarshal(text, &all))
		if got.origin != want.origin || got.inherit != want.inherit || got.rev != want.rev || !maps.Equal(all, want.metadata) {
			m.Fatalf("%s has %+v (%s), want %+v", m.describe(id), got, text, want)
		}
	}
}
