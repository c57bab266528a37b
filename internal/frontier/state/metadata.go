package state

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/table"
	"seine/pkg/messages"
)

// Metadata of a seed is part of its record. What many URLs inherit is stored once for each crawl, and
// the record of each of them has its digest.
//
// A URL has the metadata that it was submitted with; else that of the last redirect to it; else, if it was
// found on a page of which metadata is inherited, that. A later discovery changes nothing.

// origin says how a URL came by its metadata.
type origin byte

const (
	fed        origin = 1 + iota // as a seed
	redirected                   // from a page that has it
	inherited                    // from the page that it was first found on
)

// metadata is that of a URL as it is stored.
type metadata struct {
	origin  origin
	inherit bool
	// rev is the revision of the spec that it came with: a list of seeds that an
	// earlier spec had, and that comes late, replaces nothing.
	rev uint64
	// text is the metadata as JSON, or of what is inherited, which is stored elsewhere,
	// its digest.
	text []byte
}

func (m *metadata) append(b []byte) []byte {
	b = appendBool(append(b, byte(m.origin)), m.inherit)
	return append(binary.AppendUvarint(b, m.rev), m.text...)
}

// metadata reads what append wrote, as a text.
func (d *decoder) metadata() *metadata {
	in := decoder{b: []byte(d.text())}
	m := &metadata{origin: origin(in.byte()), inherit: in.bool(), rev: in.uint()}
	m.text = in.b
	if in.bad || m.origin < fed || m.origin > inherited || m.origin == inherited && len(m.text) != len(textDigest{}) {
		d.bad = true
	}
	return m
}

// textDigest tells texts apart that are inherited.
type textDigest [16]byte

func digestOfText(text []byte) (d textDigest) {
	sum := sha256.Sum256(text)
	copy(d[:], sum[:])
	return d
}

func (us *urls) inheritedKey(crawl string, digest []byte) []byte {
	return append(table.Name(table.Prefix(us.partition, kindInherited), crawl), digest...)
}

// applyMetadata stores what a message says of the metadata of a URL, which was known before
// or not.
func (us *urls) applyMetadata(m *messages.Candidates, c *messages.Candidate, r *urlRecord, id urlID, known bool) error {
	switch {
	case m.Source == messages.SourceSeed:
		us.feedMetadata(m, c, r, id)
	case len(m.Metadata) == 0:
	case m.Source == messages.SourceRedirect: // the last one counts
		if r.Metadata == nil || r.Metadata.origin != fed {
			us.setMetadata(r, id, &metadata{redirected, m.Inherit, 0, m.Metadata.AppendJSON(nil)})
		}
	case m.Inherit && !known:
		return us.inheritMetadata(m, r, id)
	}
	return nil
}

// feedMetadata takes the metadata of a seed. A seed of a spec has what the spec says, and
// nothing else; one that is submitted otherwise, without metadata, keeps what it has.
func (us *urls) feedMetadata(m *messages.Candidates, c *messages.Candidate, r *urlRecord, id urlID) {
	listed, had := m.SeedList != 0, r.Metadata
	switch {
	case c.Metadata == nil && !listed, listed && had != nil && had.origin == fed && had.rev > m.Rev:
	case len(c.Metadata) > 0:
		us.setMetadata(r, id, &metadata{fed, c.Inherit, m.Rev, c.Metadata.AppendJSON(nil)})
	case had != nil && (had.origin == fed || c.Metadata != nil):
		us.setMetadata(r, id, nil)
	}
}

func (us *urls) setMetadata(r *urlRecord, id urlID, m *metadata) {
	r.Metadata = m
	us.tx.save(id, r)
}

// inheritMetadata takes that of the page on which a URL was found first.
func (us *urls) inheritMetadata(m *messages.Candidates, r *urlRecord, id urlID) error {
	text := m.Metadata.AppendJSON(nil)
	digest := digestOfText(text)
	key := us.inheritedKey(id.crawl, digest[:])
	stored, err := us.tx.Get(key)
	if err != nil {
		return fmt.Errorf("metadata of %s: %w", messages.Clip(r.URL), err)
	}
	if stored == nil {
		us.tx.Set(key, text)
	}
	us.setMetadata(r, id, &metadata{inherited, true, 0, digest[:]})
	return nil
}

// metadataOf returns the metadata of a URL, nil if it has none, and whether it is
// inherited. What is unreadable is quarantined, if it is inherited, and the URL has none then.
func (us *urls) metadataOf(r *urlRecord, id urlID) (all messages.Metadata, inherit bool, err error) {
	m := r.Metadata
	if m == nil {
		return nil, false, nil
	}
	text := m.text
	if m.origin == inherited {
		if text, err = us.tx.Get(us.inheritedKey(id.crawl, m.text)); err != nil {
			return nil, false, fmt.Errorf("metadata of %s: %w", messages.Clip(r.URL), err)
		}
	}
	bad := jsontext.Unmarshal(text, &all)
	if bad == nil {
		bad = all.Check(true)
	}
	if bad == nil {
		return all, m.inherit, nil
	}
	us.reportRepair(repairURL, "the metadata of a URL cannot be read, it has none", "crawl", id.crawl, "url", r.URL, "error", bad)
	us.setMetadata(r, id, nil)
	if m.origin != inherited {
		return nil, false, nil
	}
	return nil, false, us.setAside(us.inheritedKey(id.crawl, m.text))
}
