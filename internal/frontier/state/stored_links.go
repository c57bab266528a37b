package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A run visits the links of its pages, but an unchanged page comes without links. So each partition
// keeps which of its URLs were found on a page of any partition, one value for each parser message.
// When the page turns out to be unchanged, the partition finds those URLs again, in steps, as a
// page may be a large sitemap.

// links is the content of one parser message about a page: the round of its visit, the depth of the
// links relative to the page, and their hashes.
type links struct {
	round  uint64
	deeper int
	to     []messages.URLHash
}

func (l *links) append(b []byte) []byte {
	b = binary.AppendUvarint(b, l.round)
	b = binary.AppendVarint(b, int64(l.deeper))
	for i := range l.to {
		b = append(b, l.to[i][:]...)
	}
	return b
}

var errLinks = errors.New("stored links of a page cannot be read")

func decodeLinks(b []byte) (l links, err error) {
	d := decoder{b: b}
	l.round, l.deeper = d.uint(), int(d.int())
	if d.bad || len(d.b)%len(messages.URLHash{}) != 0 {
		return l, errLinks
	}
	for ; len(d.b) > 0; d.b = d.b[len(messages.URLHash{}):] {
		l.to = append(l.to, messages.URLHash(d.b))
	}
	return l, nil
}

// linksPrefix is the prefix of the keys of a page's links.
func (d *discovery) linksPrefix(page urlID) []byte {
	return append(table.Name(table.Prefix(d.partition, kindLinks), page.crawl), page.hash[:]...)
}

// keepLinks stores the links of a page from one message, replacing those of an earlier visit.
func (d *discovery) keepLinks(m *messages.Candidates, to []messages.URLHash) error {
	if len(to) == 0 {
		return nil
	}
	key := binary.BigEndian.AppendUint16(d.linksPrefix(urlID{m.Crawl, messages.HashURL(m.Referrer)}), uint16(m.PagePart))
	round, err := d.keptRound(key)
	if err != nil || round > m.PageRound { // the message is a late repeat
		return err
	}
	l := links{m.PageRound, m.Depth - m.PageDepth, to}
	d.tx.Set(key, l.append(nil))
	return nil
}

// keptRound returns the round of the links stored under a key, or 0 without links.
func (d *discovery) keptRound(key []byte) (uint64, error) {
	value, err := d.tx.Get(key)
	if err != nil {
		return 0, fmt.Errorf("links of a page: %w", err)
	}
	kept := decoder{b: value}
	return kept.uint(), nil
}

// unchanged is a page whose links are being found again.
type unchanged struct {
	Round uint64 `json:"round"` // round in which the page came
	Era   uint64 `json:"era"`   // of the visit that found it unchanged
	Depth int    `json:"depth"` // of the page
	URL   string `json:"url"`
	// Part and At are the message and the link in it at which to continue.
	Part uint16 `json:"part"`
	At   uint32 `json:"at"`
}

// noteUnchanged makes the links of a page be found again from the next turn on. Only this message
// shows that its run has them: a NotModified result may come from a former owner, in a run that
// this owner does not know.
func (d *discovery) noteUnchanged(m *messages.Candidates) error {
	c := d.crawls.get(m.Crawl)
	if c.Started == 0 { // no page has led to here
		return nil
	}
	key := binary.BigEndian.AppendUint64(table.Name(table.Prefix(d.partition, kindUnchanged), m.Crawl), uint64(m.Run))
	hash := messages.HashURL(m.Referrer)
	d.tx.SetJSON(append(key, hash[:]...), unchanged{Round: m.PageRound, Era: m.Era, Depth: m.Depth, URL: m.Referrer})
	c.Unchanged, c.dirty = true, true
	id := urlID{m.Crawl, hash}
	if !c.seen.has(hash) { // it belongs to another partition
		return nil
	}
	page, err := d.urls.record(id)
	if err == nil && page != nil && page.LinkRun < m.Run {
		page.LinkRun = m.Run
		d.tx.save(id, page)
	}
	return err
}

// refind is a page with links to find again in this turn.
type refind struct {
	key  []byte
	page urlID
	run  int64
	unchanged
}

// findAgain finds a part of the links of unchanged pages again. It stores its progress in the same
// turn.
func (d *discovery) findAgain(name string, c *crawl, rules *Rules, now int64) error {
	pre := table.Name(table.Prefix(d.partition, kindUnchanged), name)
	all, err := d.doSome(pre, func(key, value []byte, most int) (int, error) {
		p := &refind{key: key}
		hash, ok := hashAtEnd(key)
		if err := jsontext.Unmarshal(value, &p.unchanged); err != nil || !ok || len(key) != len(pre)+8+len(hash) {
			d.tx.Delete(key)
			d.reportRepair(repairIndex, "which page is unchanged cannot be read, it is forgotten", "key", key)
			return 0, nil
		}
		p.page, p.run = urlID{name, hash}, int64(binary.BigEndian.Uint64(key[len(pre):]))
		return d.findLinks(p, most, rules, now)
	})
	c.Unchanged, c.dirty = !all, true
	return err
}

// findLinks finds at most so many links of a page. It returns the number, which equals most if some
// may be left.
func (d *discovery) findLinks(p *refind, most int, rules *Rules, now int64) (n int, err error) {
	var parts []links
	pre := d.linksPrefix(p.page)
	from := binary.BigEndian.AppendUint16(bytes.Clone(pre), p.Part)
	err = d.store.scan(pre, from, func(key, value []byte) (bool, error) {
		l, err := decodeLinks(value)
		if err != nil || len(key) != len(pre)+2 {
			d.reportRepair(repairIndex, "the links of a page cannot be read, they are forgotten", "url", p.URL)
		}
		if err != nil || l.round < p.Round { // the links belong to an earlier version of the page
			d.tx.Delete(bytes.Clone(key))
			return true, nil
		}
		part := binary.BigEndian.Uint16(key[len(pre):])
		if part != p.Part {
			p.Part, p.At = part, 0
		}
		if l.round > p.Round {
			return true, nil // the page was fetched meanwhile, with its links
		}
		l.to = l.to[min(int(p.At), len(l.to)):]
		l.to = l.to[:min(most-n, len(l.to))]
		parts = append(parts, l)
		p.At += uint32(len(l.to))
		n += len(l.to)
		return n < most, nil
	})
	for i := range parts {
		for _, hash := range parts[i].to {
			if err == nil {
				err = d.findLink(p, urlID{p.page.crawl, hash}, parts[i].deeper, rules, now)
			}
		}
	}
	if n < most {
		d.tx.Delete(p.key)
	} else {
		d.tx.SetJSON(p.key, p.unchanged)
	}
	return n, err
}

// findLink applies a URL as if it had been found on the page in this run.
func (d *discovery) findLink(p *refind, id urlID, deeper int, rules *Rules, now int64) error {
	depth := min(max(p.Depth+deeper, 0), messages.MaxDepth)
	r, err := d.urls.record(id)
	if err != nil || r == nil || r.Run >= p.run && r.Depth <= depth {
		return err
	}
	url, err := rules.canonical(r.URL)
	if err != nil {
		return nil // invalid under the current rules
	}
	m := &messages.Candidates{Crawl: id.crawl, Source: messages.SourceLink, Referrer: p.URL, Depth: depth, Run: p.run, Era: p.Era}
	own := int(r.Own)
	return d.candidate(m, messages.Candidate{URL: url, Priority: &own}, rules, now)
}

// knowsLinks reports whether the current run has the links of a page if it is unchanged: they were
// found in this run, or are kept under the current link rules.
func (c *crawl) knowsLinks(r *urlRecord) bool {
	return r.linksTaken() || r.PageRound != 0 && r.PageRev >= c.LinksRev
}

// linksTaken reports whether the run of the current visit has the page's links.
func (r *urlRecord) linksTaken() bool { return r.SentRun <= r.LinkRun }

// linksPrint returns a fingerprint of the settings that decide which links are found on a page.
func linksPrint(spec *crawlspec.Spec) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(messages.Encode([]any{spec.Links, spec.Follow, spec.Sitemaps}))
	return h.Sum64()
}
