package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// Metadata of seeds is stored beside the records of URLs, under keys of its own: most URLs
// have none, and cost nothing. What many URLs inherit is stored once for each crawl, and
// each of them has its digest.
//
// A URL has what it was fed with; else what the last redirect to it had; else, if it was
// found on a page of which metadata is inherited, that. Who finds it later changes nothing.

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
	// rev is the revision of the spec under which it was fed: a list of seeds that an
	// earlier spec had, and that comes late, replaces nothing.
	rev uint64
	// text is the metadata as JSON, or of what is inherited, which is stored elsewhere,
	// its digest.
	text []byte
}

func (m *metadata) append(b []byte) []byte {
	inherit := byte(0)
	if m.inherit {
		inherit = 1
	}
	b = binary.AppendUvarint(append(b, byte(m.origin), inherit), m.rev)
	return append(b, m.text...)
}

var errMetadata = errors.New("stored metadata of a URL cannot be read")

func decodeMetadata(b []byte) (*metadata, error) {
	d := decoder{b: b}
	m := &metadata{origin: origin(d.byte())}
	inherit := d.byte()
	m.inherit, m.rev, m.text = inherit == 1, d.uint(), bytes.Clone(d.b)
	if d.bad || inherit > 1 || m.origin < fed || m.origin > inherited || m.origin == inherited && len(m.text) != len(textDigest{}) {
		return nil, errMetadata
	}
	return m, nil
}

// textDigest tells texts apart that are inherited.
type textDigest [16]byte

func digestOfText(text []byte) (d textDigest) {
	sum := sha256.Sum256(text)
	copy(d[:], sum[:])
	return d
}

func (s *Partition) metadataKey(id urlID) []byte {
	return append(table.Name(table.Prefix(s.partition, kindMetadata), id.crawl), id.hash[:]...)
}

func (s *Partition) inheritedKey(crawl string, digest []byte) []byte {
	return append(table.Name(table.Prefix(s.partition, kindInherited), crawl), digest...)
}

// takeMetadata stores what a message says of the metadata of a URL, which was known before
// or not.
func (s *Partition) takeMetadata(m *messages.Candidates, c *messages.Candidate, id urlID, known bool) error {
	switch {
	case m.Source == messages.SourceSeed:
		return s.feedMetadata(m, c, id)
	case len(m.Metadata) == 0:
		return nil
	case m.Source == messages.SourceRedirect:
		return s.redirectMetadata(m, id, known)
	case m.Inherit && !known:
		return s.inheritMetadata(m, id)
	}
	return nil
}

// feedMetadata takes that of a seed. One that a spec lists has what is said there, and
// nothing else; who feeds one otherwise, and says nothing, leaves what it has.
func (s *Partition) feedMetadata(m *messages.Candidates, c *messages.Candidate, id urlID) error {
	listed := m.SeedList != 0
	if c.Metadata == nil && !listed {
		return nil
	}
	had, err := s.metadataOf(id)
	if err != nil || listed && had != nil && had.origin == fed && had.rev > m.Rev {
		return err
	}
	switch {
	case len(c.Metadata) > 0:
		s.setMetadata(id, &metadata{fed, c.Inherit, m.Rev, c.Metadata.AppendJSON(nil)})
	case had != nil && (had.origin == fed || c.Metadata != nil):
		s.setMetadata(id, nil)
	}
	return nil
}

// redirectMetadata takes that of a page that redirects to a URL.
func (s *Partition) redirectMetadata(m *messages.Candidates, id urlID, known bool) error {
	if known {
		if had, err := s.metadataOf(id); err != nil || had != nil && had.origin == fed {
			return err
		}
	}
	s.setMetadata(id, &metadata{redirected, m.Inherit, 0, m.Metadata.AppendJSON(nil)})
	return nil
}

// inheritMetadata takes that of the page on which a URL was found first.
func (s *Partition) inheritMetadata(m *messages.Candidates, id urlID) error {
	text := m.Metadata.AppendJSON(nil)
	digest := digestOfText(text)
	key := s.inheritedKey(id.crawl, digest[:])
	if s.tx.inherited[string(key)] == nil {
		there, err := s.store.has(key)
		if err != nil {
			return err
		}
		if !there {
			s.tx.Set(key, text)
		}
		s.tx.inherited[string(key)] = text
	}
	s.setMetadata(id, &metadata{inherited, true, 0, digest[:]})
	return nil
}

// setMetadata stores the metadata of a URL, nil for none.
func (s *Partition) setMetadata(id urlID, m *metadata) {
	s.tx.metadata[id] = m
	if m == nil {
		s.tx.Delete(s.metadataKey(id))
		return
	}
	s.crawl(id.crawl).metadata = hasSome
	s.tx.Set(s.metadataKey(id), m.append(nil))
}

// presence is whether a crawl has something of a kind.
type presence byte

const (
	unsure presence = iota
	hasNone
	hasSome
)

// hasMetadata reports whether any URL of a crawl may have metadata: where none has, as is
// usual, it need not be looked for with each request.
func (s *Partition) hasMetadata(name string) (bool, error) {
	c := s.crawls[name]
	if c == nil { // it rests, and who asks wakes it not
		return true, nil
	}
	if c.metadata == unsure {
		found := hasNone
		err := s.store.scan(table.Name(table.Prefix(s.partition, kindMetadata), name), nil, func(_, _ []byte) (bool, error) {
			found = hasSome
			return false, nil
		})
		if err != nil {
			return false, err
		}
		c.metadata = found
	}
	return c.metadata == hasSome, nil
}

// metadataOf returns the metadata of a URL as it is stored, nil if it has none.
func (s *Partition) metadataOf(id urlID) (*metadata, error) {
	if m, ok := s.tx.metadata[id]; ok {
		return m, nil
	}
	if some, err := s.hasMetadata(id.crawl); err != nil || !some {
		return nil, err
	}
	return s.readMetadata(id)
}

// readMetadata is metadataOf by the store alone.
func (s *Partition) readMetadata(id urlID) (*metadata, error) {
	value, err := s.store.get(s.metadataKey(id))
	if err != nil {
		return nil, fmt.Errorf("read store: %w", err)
	}
	if value == nil {
		return nil, nil
	}
	m, err := decodeMetadata(value)
	if err != nil {
		return nil, s.unreadableMetadata(id, err)
	}
	return m, nil
}

// unreadableMetadata sets metadata aside that cannot be read: the URL has none then.
func (s *Partition) unreadableMetadata(id urlID, cause error) error {
	s.reportRepair(repairURL, "the metadata of a URL cannot be read, it is set aside", "crawl", id.crawl, "url_hash", id.hash, "error", cause)
	s.tx.metadata[id] = nil
	return s.setAside(s.metadataKey(id))
}

// metadataFor returns the metadata of a URL, nil if it has none, and whether it is
// inherited.
func (s *Partition) metadataFor(id urlID) (messages.Metadata, bool, error) {
	m, err := s.metadataOf(id)
	if err != nil || m == nil {
		return nil, false, err
	}
	return s.wholeMetadata(id, m)
}

// wholeMetadata reads what is stored elsewhere of what a URL has inherited.
func (s *Partition) wholeMetadata(id urlID, m *metadata) (all messages.Metadata, inherit bool, err error) {
	text := m.text
	if m.origin == inherited {
		if text, err = s.inheritedText(id.crawl, m.text); err != nil {
			return nil, false, err
		}
	}
	if err = jsontext.Unmarshal(text, &all); err == nil {
		err = all.Check(true)
	}
	if err != nil {
		return nil, false, s.unreadableMetadata(id, err)
	}
	return all, m.inherit, nil
}

// inheritedText reads a text that is inherited; one that is not there is none.
func (s *Partition) inheritedText(crawl string, digest []byte) ([]byte, error) {
	key := s.inheritedKey(crawl, digest)
	if text := s.tx.inherited[string(key)]; text != nil {
		return text, nil
	}
	text, err := s.store.get(key)
	if err != nil {
		return nil, fmt.Errorf("read store: %w", err)
	}
	return text, nil
}
