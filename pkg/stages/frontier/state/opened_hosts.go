package state

import (
	"bytes"

	"seine/pkg/stages/frontier/frontierapi"
	"seine/pkg/stages/frontier/table"
)

// opening is a root whose URLs are being taken back.
type opening struct {
	key   []byte // of the root
	from  []byte // the URLs from here on are left
	start []byte // of the keys of all its URLs
}

// admitOpened takes back a part of the URLs that were excluded because their
// hosts were not open, and are now. It notes how far it came in the same turn.
func (d *discovery) admitOpened(name string, c *crawl, rules *Rules, now int64) error {
	var roots []opening
	pre := table.Name(table.Prefix(d.partition, kindOpening), name)
	var last []byte
	listed, err := d.walk(pre, &last, func(key, after []byte) error {
		o := opening{key: bytes.Clone(key), start: bytes.Clone(key)}
		o.start[len(table.Prefix(0, 0))-1] = kindBarred
		o.from = append(bytes.Clone(o.start), after...)
		roots = append(roots, o)
		return nil
	})
	if err != nil {
		return err
	}
	all, err := inTurn(roots, func(o *opening, most int) (int, error) { return d.admitRoot(name, o, most, rules, now) })
	c.Opening, c.dirty = !listed || !all, true
	return err
}

// admitRoot takes back at most so many URLs of a root, and returns how many; as
// many as that if some may be left.
func (d *discovery) admitRoot(name string, o *opening, most int, rules *Rules, now int64) (n int, err error) {
	var keys [][]byte
	err = d.store.scan(o.start, o.from, func(key, _ []byte) (bool, error) {
		keys = append(keys, bytes.Clone(key))
		return len(keys) < most, nil
	})
	for _, key := range keys {
		if err == nil {
			err = d.unbar(name, key, rules, now)
		}
	}
	if err != nil {
		return 0, err
	}
	if len(keys) < most {
		d.tx.Delete(o.key)
	} else {
		d.tx.Set(o.key, append(keys[len(keys)-1][len(o.start):], 0))
	}
	return len(keys), nil
}

// unbar admits the URL that a key is about, which may be excluded again.
func (d *discovery) unbar(name string, key []byte, rules *Rules, now int64) error {
	hash, _ := hashAtEnd(key)
	id := urlID{name, hash}
	r, err := d.urls.record(id)
	switch {
	case err != nil:
		return err
	case r == nil || !r.Has(key):
		d.stray(key)
		return nil
	case r.State != Excluded || r.Reason != frontierapi.ReasonScope: // it was admitted in this turn
		return nil
	}
	return d.visits.admit(r, id, rules, now)
}
