package state

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/schedule/traps"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// besideURLs are the kinds whose keys are those of URLs, but for the kind, and go with them.
var besideURLs = []byte{kindFailed, kindInFlight, kindSeed, kindMetadata}

// besideWalk goes through the keys of one kind beside those of the URLs.
type besideWalk struct {
	kind byte
	it   *pebble.Iterator
	ok   bool
	pre  int
}

// moveURLs moves the URLs of an old partition, and what goes with them.
func (c *movedCrawl) moveURLs(p int) (err error) {
	c.byPart[p] = make(map[int]*movedURLs)
	var walks []*besideWalk
	defer func() {
		for _, w := range walks {
			if cerr := w.it.Close(); err == nil && cerr != nil {
				err = fmt.Errorf("scan store: %w", cerr)
			}
		}
	}()
	for _, kind := range besideURLs {
		w, err := c.walkBeside(p, kind)
		if err != nil {
			return err
		}
		walks = append(walks, w)
	}
	pre := table.Name(table.Prefix(p, kindURL), c.name)
	err = c.From.scan(pre, nil, func(key, value []byte) (bool, error) {
		hash, ok := hashAtEnd(key[len(pre):])
		r, bad := decodeRecord(value)
		if !ok || bad != nil { // as where it is its turn
			c.out.Skipped[kindURL]++
			return true, c.put(p%c.step, kindSetAside, key[2:], value)
		}
		return true, c.moveURL(p, hash, r, value, walks)
	})
	for _, w := range walks {
		for ; err == nil && w.ok; w.ok = w.it.Next() {
			c.out.Skipped[w.kind]++
		}
	}
	return err
}

func (c *movedCrawl) walkBeside(p int, kind byte) (*besideWalk, error) {
	pre := table.Name(table.Prefix(p, kind), c.name)
	it, err := c.From.db.NewIter(&pebble.IterOptions{LowerBound: pre, UpperBound: table.After(pre)})
	if err != nil {
		return nil, fmt.Errorf("scan store: %w", err)
	}
	return &besideWalk{kind, it, it.First(), len(pre)}, nil
}

// at returns the value of a URL. Hashes come in order.
func (w *besideWalk) at(hash []byte, skipped map[byte]int64) (value []byte, there bool) {
	for ; w.ok; w.ok = w.it.Next() {
		switch bytes.Compare(w.it.Key()[w.pre:], hash) {
		case -1:
			skipped[w.kind]++
			continue
		case 0:
			value = bytes.Clone(w.it.Value())
			w.ok = w.it.Next()
			return value, true
		}
		return nil, false
	}
	return nil, false
}

func (c *movedCrawl) moveURL(p int, hash messages.URLHash, r *urlRecord, stored []byte, walks []*besideWalk) error {
	q := c.targetOfURL(r.URL)
	c.count(p, q, r)
	rest := c.hashRest(hash)
	if err := c.put(q, kindURL, rest, c.shiftedRecord(p, r, stored)); err != nil {
		return err
	}
	for _, w := range walks {
		value, there := w.at(hash[:], c.out.Skipped)
		if !there {
			continue
		}
		if w.kind == kindMetadata {
			c.noteInherited(q, value)
		}
		if err := c.put(q, w.kind, rest, value); err != nil {
			return err
		}
	}
	if err := c.moveDueTime(p, q, hash, r); err != nil {
		return err
	}
	return c.moveOrder(p, q, r)
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
	n := &c.counts[q].Counters
	countRecord(n, r, 1)
	if r.State.ended() && r.Due != 0 {
		n.Planned++
	}
	if r.Fetched {
		c.byPart[p][q].fetched++
	}
}

// noteInherited notes which text a URL of a new partition has inherited.
func (c *movedCrawl) noteInherited(q int, value []byte) {
	if m, err := decodeMetadata(value); err == nil && m.origin == inherited {
		c.counts[q].inherited[textDigest(m.text)] = true
	}
}

// moveDueTime moves the entry of a URL in the index of those that wait. Entries that were overtaken,
// and stay until they are due, are left behind.
func (c *movedCrawl) moveDueTime(p, q int, hash messages.URLHash, r *urlRecord) error {
	if r.Due == 0 {
		return nil
	}
	rest := append(binary.BigEndian.AppendUint64(nil, uint64(r.Due)), c.hashRest(hash)...)
	there, err := c.From.has(append(table.Prefix(p, kindRetry), rest...))
	if err != nil || !there {
		return err
	}
	c.waiting++
	return c.put(q, kindRetry, c.shiftedTime(p, rest), nil)
}

// moveOrder moves the mark that a URL is known with its parameters in this order.
func (c *movedCrawl) moveOrder(p, q int, r *urlRecord) error {
	sorted, others := traps.SortQuery(r.URL)
	if !others || sorted == r.URL {
		return nil
	}
	mark := orderMark(sorted)
	rest := c.hashRest(mark)
	there, err := c.From.has(append(table.Prefix(p, kindOrder), rest...))
	if err != nil || !there {
		return err
	}
	return c.put(q, kindOrder, rest, nil)
}

func runRest(crawl string, run int64) []byte {
	return binary.BigEndian.AppendUint64(table.Name(nil, crawl), uint64(run))
}
