package state

import (
	"bytes"

	"seine/internal/base/weburl"
	"seine/internal/frontier/table"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// opening is a root whose excluded URLs are being admitted.
type opening struct {
	root
	key  []byte // of the root
	from []byte // the next key below the root to process
}

// admitOpened admits some URLs that were excluded because their hosts were not open, and are open
// now. It stores its progress in the same turn.
func (d *discovery) admitOpened(name string, c *crawl, rules *Rules, now int64) error {
	pre := table.Name(table.Prefix(d.partition, kindOpening), name)
	hosts := false
	all, err := d.doSome(pre, func(key, from []byte, most int) (int, error) {
		o := &opening{rootAtEnd(key[len(pre):]), key, from}
		if o.host != "" {
			return d.admitHost(name, o, most, rules, now)
		}
		hosts = true
		return d.openHosts(name, o, most)
	})
	c.Opening, c.dirty = !all || hosts, true
	return err
}

// openHosts opens at most so many hosts of a domain. It returns the number, which equals most if
// some may be left.
func (d *discovery) openHosts(name string, o *opening, most int) (n int, err error) {
	pre := o.append(table.Name(table.Prefix(d.partition, kindBarred), name))
	return d.proceed(pre, o, most, func(key, _ []byte) {
		host, _, _ := table.CutName(key)
		d.tx.Set(d.scope.openingKey(name, root{o.domain, host}), nil)
	})
}

// admitHost admits URLs of a host. It checks at most so many and returns the number, which equals
// most if some may be left.
func (d *discovery) admitHost(name string, o *opening, most int, rules *Rules, now int64) (n int, err error) {
	begin := messages.HashHost(o.host)
	pre := append(table.Name(table.Prefix(d.partition, kindURL), name), begin[:]...)
	var ids []urlID
	n, err = d.proceed(pre, o, most, func(key, value []byte) {
		// An unreadable record is skipped here, and quarantined when it is loaded.
		if r, err := decodeRecord(value); err == nil && r.barred() {
			hash, _ := hashAtEnd(append(begin[:], key...))
			ids = append(ids, urlID{name, hash})
		}
	})
	for _, id := range ids {
		if err == nil {
			err = d.unbar(id, rules, now)
		}
	}
	return n, err
}

// proceed calls do for up to most keys, from where the opening of a root stopped, and stores where
// it stops now.
func (d *discovery) proceed(pre []byte, o *opening, most int, do func(key, value []byte)) (n int, err error) {
	err = d.store.scan(pre, append(bytes.Clone(pre), o.from...), func(key, value []byte) (bool, error) {
		n++
		o.from = append(append(o.from[:0], key[len(pre):]...), 0)
		do(key[len(pre):], value)
		return n < most, nil
	})
	if n < most {
		d.tx.Delete(o.key)
	} else {
		d.tx.Set(o.key, o.from)
	}
	return n, err
}

// unbar admits a URL if its host is open now.
func (d *discovery) unbar(id urlID, rules *Rules, now int64) error {
	r, err := d.urls.record(id)
	if err != nil || r == nil || !r.barred() { // it was admitted in this turn
		return err
	}
	if open, err := d.scope.inScope(id.crawl, r, rules); err != nil || !open {
		return err
	}
	return d.visits.admit(r, id, rules, now)
}

// barred reports whether a URL is excluded because its host is not open.
func (r *urlRecord) barred() bool { return r.State == Excluded && r.Reason == frontierapi.ReasonScope }

// noteBarred records the host of a barred URL, so that the URL is found when its host is opened.
func (us *urls) noteBarred(c *crawl, crawl, url string) {
	host := weburl.Host(url)
	if !c.barred[host] {
		c.barred[host] = true
		us.tx.Set(rootsOf(url)[0].append(table.Name(table.Prefix(us.partition, kindBarred), crawl)), nil)
	}
}
