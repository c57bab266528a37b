package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// linksWalk goes through the links of pages that one old partition keeps.
type linksWalk struct {
	p   int
	it  *pebble.Iterator
	ok  bool
	pre int
}

// page is the hash of the page that comes next.
func (w *linksWalk) page() []byte {
	rest := w.it.Key()[w.pre:]
	return rest[:min(len(rest), len(messages.URLHash{}))]
}

// moveLinks moves the links of pages. A page may be of any partition, and each partition keeps
// the links to its own URLs: so the values of all old partitions are read side by side, page
// by page, and those of a new one numbered from 0.
func (c *movedCrawl) moveLinks() error {
	for class := range c.step {
		if err := c.moveLinksOf(class); err != nil {
			return err
		}
	}
	return nil
}

func (c *movedCrawl) moveLinksOf(class int) (err error) {
	var walks []*linksWalk
	defer func() {
		for _, w := range walks {
			if cerr := w.it.Close(); err == nil && cerr != nil {
				err = fmt.Errorf("scan store: %w", cerr)
			}
		}
	}()
	for _, p := range c.sources(class) {
		pre := table.Name(table.Prefix(p, kindLinks), c.name)
		it, err := c.From.db.NewIter(&pebble.IterOptions{LowerBound: pre, UpperBound: table.After(pre)})
		if err != nil {
			return fmt.Errorf("scan store: %w", err)
		}
		walks = append(walks, &linksWalk{p, it, it.First(), len(pre)})
	}
	for {
		var next []byte
		for _, w := range walks {
			if w.ok && (next == nil || bytes.Compare(w.page(), next) < 0) {
				next = bytes.Clone(w.page())
			}
		}
		if next == nil {
			return nil
		}
		if err := c.movePageLinks(walks, next); err != nil {
			return err
		}
	}
}

// movePageLinks moves what one page has led to.
func (c *movedCrawl) movePageLinks(walks []*linksWalk, page []byte) error {
	parts := make(map[int]int)
	for _, w := range walks {
		for ; w.ok && bytes.Equal(w.page(), page); w.ok = w.it.Next() {
			l, err := decodeLinks(w.it.Value())
			if err != nil || len(page) != len(messages.URLHash{}) || len(w.it.Key()) != w.pre+len(page)+2 {
				c.out.Skipped[kindLinks]++
				continue
			}
			split, err := c.splitLinks(w.p, l.to)
			if err != nil {
				return err
			}
			for _, q := range slices.Sorted(maps.Keys(split)) {
				if parts[q] > math.MaxUint16 {
					return fmt.Errorf("the links of page %x are in more than %d parts", page, math.MaxUint16)
				}
				rest := binary.BigEndian.AppendUint16(append(table.Name(nil, c.name), page...), uint16(parts[q]))
				parts[q]++
				some := links{l.round, l.deeper, split[q]}
				if err := c.put(q, kindLinks, rest, some.append(nil)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// splitLinks sorts URLs of an old partition by the new one. Those that are not known lead
// nowhere.
func (c *movedCrawl) splitLinks(p int, to []messages.URLHash) (map[int][]messages.URLHash, error) {
	split := make(map[int][]messages.URLHash)
	if targets := c.targets(p); len(targets) == 1 {
		split[targets[0]] = to
		return split, nil
	}
	for _, hash := range to {
		q, known, err := c.targetOfHash(p, hash[:])
		if err != nil {
			return nil, err
		}
		if known {
			split[q] = append(split[q], hash)
		}
	}
	return split, nil
}

// moveUnchanged has the links of pages that are unchanged found again from the first on: what
// was found is passed over.
func (c *movedCrawl) moveUnchanged() error {
	for _, p := range slices.Sorted(maps.Keys(c.states)) {
		pre := table.Name(table.Prefix(p, kindUnchanged), c.name)
		err := c.From.scan(pre, nil, func(key, value []byte) (bool, error) {
			u, err := decodeUnchanged(value)
			if err != nil {
				c.out.Skipped[kindUnchanged]++
				return true, nil
			}
			u.part, u.at = 0, 0
			for _, q := range c.targets(p) {
				if len(c.contributors(q)) == 0 {
					continue
				}
				if err := c.put(q, kindUnchanged, bytes.Clone(key[3:]), u.append(nil)); err != nil {
					return false, err
				}
			}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
