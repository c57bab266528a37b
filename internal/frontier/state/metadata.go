package state

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/table"
	"seine/pkg/messages"
)

// Metadata of a seed is part of its record. Inherited metadata is stored once for each crawl, and
// the records of its URLs hold its digest.
//
// A URL has the metadata that it was submitted with. Otherwise it has the metadata of the last
// redirect to it, or else inheritable metadata of the page on which it was first found. A later
// discovery changes nothing.

// origin is how a URL got its metadata.
type origin byte

const (
	fed        origin = 1 + iota // as a seed
	redirected                   // from a page that has it
	inherited                    // from the page that it was first found on
)

// metadata is the stored metadata of a URL.
type metadata struct {
	origin  origin
	inherit bool
	// rev is the revision of the spec that the metadata came with. A late list of seeds from an
	// earlier spec replaces nothing.
	rev uint64
	// text is the metadata as JSON, or the digest of inherited metadata, which is stored elsewhere.
	text []byte
}

func (m *metadata) append(b []byte) []byte {
	b = appendBool(append(b, byte(m.origin)), m.inherit)
	return append(binary.AppendUvarint(b, m.rev), m.text...)
}

// metadata decodes the output of append, stored as a text.
func (d *decoder) metadata() *metadata {
	in := decoder{b: []byte(d.text())}
	m := &metadata{origin: origin(in.byte()), inherit: in.bool(), rev: in.uint()}
	m.text = in.b
	if in.bad || m.origin < fed || m.origin > inherited || m.origin == inherited && len(m.text) != len(textDigest{}) {
		d.bad = true
	}
	return m
}

// textDigest identifies inherited metadata.
type textDigest [16]byte

func digestOfText(text []byte) (d textDigest) {
	sum := sha256.Sum256(text)
	copy(d[:], sum[:])
	return d
}

func (us *urls) inheritedKey(crawl string, digest []byte) []byte {
	return append(table.Name(table.Prefix(us.partition, kindInherited), crawl), digest...)
}

// applyMetadata stores the metadata that a message has for a URL. known reports whether the URL was
// known before.
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

// feedMetadata applies the metadata of a seed. A seed listed in a spec gets exactly the spec's
// metadata. A seed submitted otherwise without metadata keeps its own.
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

// inheritMetadata stores the metadata of the page on which a URL was found first.
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

// metadataOf returns the metadata of a URL, nil if it has none, and whether links inherit it.
// Unreadable metadata is removed from the URL, and quarantined if it is inherited.
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
