package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"

	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// A run visits what its pages lead to, and a page that is unchanged comes with no
// links. So a partition keeps which of its URLs were found on a page, wherever that
// is, one value for each message of the parser; and when the page turns out to be
// unchanged, it finds them once more. That is done in steps: a page may be a sitemap.

// links is what one message has brought of a page: of which round of its visits, how
// much farther from a seed than the page, and where to.
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

// linksPrefix starts the keys of what was found on a page.
func (d *discovery) linksPrefix(page urlID) []byte {
	return append(table.Name(table.Prefix(d.partition, kindLinks), page.crawl), page.hash[:]...)
}

// keepLinks stores what a message has brought of a page, in place of what a visit
// before has brought.
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

// keptRound is the round of the links under a key, 0 if there are none.
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
	round uint64 // in which the page came
	era   uint64 // of the visit that found it unchanged
	depth int    // of the page
	part  uint16 // the links from here on are left: of which message,
	at    int    // and which of them
	url   string
}

func (u *unchanged) append(b []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, u.round), u.era)
	for _, n := range [...]int{u.depth, int(u.part), u.at} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return appendText(b, u.url)
}

func decodeUnchanged(b []byte) (u unchanged, err error) {
	d := decoder{b: b}
	u.round, u.era, u.depth, u.part, u.at, u.url = d.uint(), d.uint(), int(d.uint()), uint16(d.uint()), int(d.uint()), d.text()
	if d.bad || len(d.b) != 0 {
		return u, errLinks
	}
	return u, nil
}

// noteUnchanged has the links of a page found again from the next turn on. Only this message shows that its run has
// them: a result that the page is unchanged may be of a former owner, in a run that this one does not know.
func (d *discovery) noteUnchanged(m *messages.Candidates) error {
	c := d.crawls.get(m.Crawl)
	if c.Started == 0 { // no page has led to here
		return nil
	}
	key := binary.BigEndian.AppendUint64(table.Name(table.Prefix(d.partition, kindUnchanged), m.Crawl), uint64(m.Run))
	hash := messages.HashURL(m.Referrer)
	u := unchanged{round: m.PageRound, era: m.Era, depth: m.Depth, url: m.Referrer}
	d.tx.Set(append(key, hash[:]...), u.append(nil))
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

// refind is a page of which a turn finds some links again.
type refind struct {
	key  []byte
	page urlID
	run  int64
	unchanged
}

// findAgain finds a part of the links of unchanged pages. It notes how far it came in
// the same turn.
func (d *discovery) findAgain(name string, c *crawl, rules *Rules, now int64) error {
	var pages []refind
	pre := table.Name(table.Prefix(d.partition, kindUnchanged), name)
	var last []byte
	listed, err := d.walk(pre, &last, func(key, value []byte) error {
		u, err := decodeUnchanged(value)
		hash, ok := hashAtEnd(key)
		if err != nil || !ok || len(key) != len(pre)+8+len(hash) {
			d.tx.Delete(bytes.Clone(key))
			d.reportRepair(repairIndex, "which page is unchanged cannot be read, it is forgotten", "key", key)
			return nil
		}
		run := int64(binary.BigEndian.Uint64(key[len(pre):]))
		pages = append(pages, refind{bytes.Clone(key), urlID{name, hash}, run, u})
		return nil
	})
	if err != nil {
		return err
	}
	all, err := inTurn(pages, func(p *refind, most int) (int, error) { return d.findLinks(p, most, rules, now) })
	c.Unchanged, c.dirty = !listed || !all, true
	return err
}

// findLinks finds at most so many links of a page, and returns how many; as many as
// that if some may be left.
func (d *discovery) findLinks(p *refind, most int, rules *Rules, now int64) (n int, err error) {
	var parts []links
	pre := d.linksPrefix(p.page)
	from := binary.BigEndian.AppendUint16(bytes.Clone(pre), p.part)
	err = d.store.scan(pre, from, func(key, value []byte) (bool, error) {
		l, err := decodeLinks(value)
		if err != nil || len(key) != len(pre)+2 {
			d.reportRepair(repairIndex, "the links of a page cannot be read, they are forgotten", "url", p.url)
		}
		if err != nil || l.round < p.round { // the page that had them is not the one that is unchanged
			d.tx.Delete(bytes.Clone(key))
			return true, nil
		}
		part := binary.BigEndian.Uint16(key[len(pre):])
		if part != p.part {
			p.part, p.at = part, 0
		}
		if l.round > p.round {
			return true, nil // it has come meanwhile, with its links
		}
		l.to = l.to[min(p.at, len(l.to)):]
		l.to = l.to[:min(most-n, len(l.to))]
		parts = append(parts, l)
		p.at += len(l.to)
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
		d.tx.Set(p.key, p.append(nil))
	}
	return n, err
}

// findLink takes a URL as if it had been found on the page in this run.
func (d *discovery) findLink(p *refind, id urlID, deeper int, rules *Rules, now int64) error {
	depth := min(max(p.depth+deeper, 0), messages.MaxDepth)
	r, err := d.urls.record(id)
	if err != nil || r == nil || r.Run >= p.run && r.Depth <= depth {
		return err
	}
	url, err := rules.canonical(r.URL)
	if err != nil {
		return nil //nolint:nilerr // by the rules of now it is no URL
	}
	m := &messages.Candidates{Crawl: id.crawl, Source: messages.SourceLink, Referrer: p.url, Depth: depth, Run: p.run, Era: p.era}
	own := int(r.Own)
	return d.candidate(m, messages.Candidate{URL: url, Priority: &own}, rules, now)
}

// knowsLinks reports whether a page that is unchanged leads the current run to what
// it led to before: its links were found in this run, or are kept as the rules for
// links are now.
func (c *crawl) knowsLinks(r *urlRecord) bool {
	return r.linksTaken() || r.PageRound != 0 && r.PageRev >= c.LinksRev
}

// linksTaken reports whether the run that a visit belongs to has the page's links.
func (r *urlRecord) linksTaken() bool { return r.SentRun <= r.LinkRun }

// linksPrint tells apart the specs that find other links on a page.
func linksPrint(spec *crawlspec.Spec) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(messages.Encode([]any{spec.Links, spec.Follow, spec.Sitemaps}))
	return h.Sum64()
}
