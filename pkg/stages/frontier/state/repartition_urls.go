package state

import (
	"fmt"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// moveURLs moves the URLs of an old partition.
func (c *movedCrawl) moveURLs(p int) error {
	c.byPart[p] = make(map[int]*movedURLs)
	pre := table.Name(table.Prefix(p, kindURL), c.name)
	return c.From.scan(pre, nil, func(key, value []byte) (bool, error) {
		hash, ok := hashAtEnd(key[len(pre):])
		r, bad := decodeRecord(value)
		if !ok || bad != nil { // as where it is its turn
			c.out.Skipped[kindURL]++
			return true, c.put(p%c.step, kindSetAside, key[2:], value)
		}
		q := c.targetOfURL(r.URL)
		c.count(p, q, r)
		if r.Due != 0 {
			r.Due += c.timeOf(p).shift[p]
		}
		return true, urlTable.Export(q, urlID{c.name, hash}, r, c.write)
	})
}

// count counts a URL by its state, as an audit does.
func (c *movedCrawl) count(p, q int, r *urlRecord) {
	c.out.URLs++
	c.out.PerPartition[q]++
	if p != q {
		c.out.Moves++
	}
	if c.counts[q] == nil {
		c.counts[q] = &movedURLs{inherited: make(map[textDigest]bool)}
	}
	if c.byPart[p][q] == nil {
		c.byPart[p][q] = &movedURLs{}
	}
	countAll(&c.counts[q].Counters, r)
	if m := r.Metadata; m != nil && m.origin == inherited {
		c.counts[q].inherited[textDigest(m.text)] = true
	}
	if r.Fetched {
		c.byPart[p][q].fetched++
	}
}

// targetOfHash is the new partition of a URL of an old one, if it is known there.
func (c *movedCrawl) targetOfHash(p int, hash []byte) (q int, known bool, err error) {
	value, err := c.From.get(append(table.Name(table.Prefix(p, kindURL), c.name), hash...))
	if err != nil {
		return 0, false, fmt.Errorf("read store: %w", err)
	}
	r, bad := decodeRecord(value)
	if bad != nil || len(hash) != len(messages.URLHash{}) {
		return 0, false, nil
	}
	return c.targetOfURL(r.URL), true, nil
}
