package state

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// The first messages of a crawl may come while a deleted one of its name is still
// being removed. They wait in the store, beside everything else, until that is done:
// as part of a turn they survive kills, moves and older snapshots as its position
// does, and they stay in their order. To remove the rest of millions of keys in the
// turn of the first message would make one batch of it; to leave the message in its
// stream would hold up those of all other crawls, since a position passes none.

// Postponed are messages that wait for the removal of a deleted crawl.
type Postponed struct {
	*core
	discovery *discovery
	requests  *Requests
	removals  *Removals
	waiting   map[string]int // how many, by crawl
	last      uint64         // the number of the last one
}

// postponed is a message that has waited.
type postponed struct {
	key        []byte
	crawl      string
	candidates *messages.Candidates // or
	result     *messages.Result
}

// What the value of a postponed message begins with; the message follows.
const (
	postponedCandidates = 'U'
	postponedResult     = 'R'
)

// Any reports whether messages wait for the removal of a deleted crawl.
func (p *Postponed) Any() bool { return len(p.waiting) > 0 }

// mustWait reports whether a message that is not of a deleted crawl must wait until
// that is removed, and what came before the message is applied.
func (p *Postponed) mustWait(name string, rules *Rules) bool {
	return p.waiting[name] > 0 || p.crawls.get(name).hasDeletedRemains(rules)
}

// hasDeletedRemains reports whether something is left of a crawl that was deleted.
func (c *crawl) hasDeletedRemains(rules *Rules) bool { return c.known() && c.pendingDeletion(rules) }

func (p *Postponed) postpone(crawl string, kind byte, message []byte) {
	p.last++
	key := binary.BigEndian.AppendUint64(table.Name(table.Prefix(p.partition, kindPostponed), crawl), p.last)
	p.tx.Set(key, append([]byte{kind}, message...))
	p.waiting[crawl]++
}

// postponeCandidates lets a message of URLS wait, but for the URLs that are none.
func (p *Postponed) postponeCandidates(m *messages.Candidates, rules *Rules, partitions int) (bad []messages.BadURL) {
	good := *m
	good.URLs = nil
	for _, c := range m.URLs {
		if _, err := p.discovery.identity(c.URL, rules, partitions); err != nil {
			bad = append(bad, messages.BadURL{Text: c.URL, Err: err})
		} else {
			good.URLs = append(good.URLs, c)
		}
	}
	p.postpone(m.Crawl, postponedCandidates, good.Encode())
	return bad
}

// load counts the messages that wait.
func (p *Postponed) load() error {
	pre := table.Prefix(p.partition, kindPostponed)
	return p.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		name, number, err := table.CutName(key[len(pre):])
		if err != nil || len(number) != 8 {
			p.reportRepair(repairIndex, "the key of a message that waits cannot be read, it is removed", "key", key)
			p.tx.Delete(bytes.Clone(key))
			return true, nil
		}
		p.waiting[name]++
		p.last = max(p.last, binary.BigEndian.Uint64(number))
		return true, nil
	})
}

// Remove continues with the removals that messages wait for. RunTimers does so
// for all; this is for a partition that catches up, and has not begun to run timers.
func (p *Postponed) Remove(now int64) error {
	for name := range p.waiting {
		rules, err := p.crawls.rules(name, 0)
		if err != nil {
			return err
		}
		if c := p.crawls.get(name); c.hasDeletedRemains(rules) {
			if err := p.removals.remove(name, c, rules, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// Ready returns messages that need not wait any more, in their order, as many as a
// turn takes. The turn under way must not have postponed or applied any before.
func (p *Postponed) Ready() (all []postponed, err error) {
	for name := range p.waiting {
		rules, err := p.crawls.rules(name, 0)
		if err != nil {
			return nil, err
		}
		if p.crawls.get(name).hasDeletedRemains(rules) {
			continue
		}
		size := 0
		err = p.store.scan(table.Name(table.Prefix(p.partition, kindPostponed), name), nil, func(key, value []byte) (bool, error) {
			m := postponed{key: bytes.Clone(key), crawl: name}
			if err := m.decode(value); err != nil {
				p.reportRepair(repairMessage, "a message that waits cannot be read, it is set aside", "crawl", name, "error", err)
				p.forget(name)
				return true, p.setAside(m.key)
			}
			all = append(all, m)
			size += len(value)
			return size < TurnBytes, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (p *postponed) decode(value []byte) (err error) {
	switch {
	case len(value) > 0 && value[0] == postponedCandidates:
		p.candidates, err = messages.DecodeCandidates(value[1:])
	case len(value) > 0 && value[0] == postponedResult:
		p.result, err = messages.DecodeResult(value[1:])
	default:
		err = fmt.Errorf("%q is not a message", value[:min(len(value), 16)])
	}
	return err
}

// Apply applies a message that has waited.
func (p *Postponed) Apply(m *postponed, partitions int, now int64) error {
	p.tx.Delete(m.key)
	p.forget(m.crawl)
	if m.result != nil {
		rules, err := p.crawls.admits(m.crawl, m.result.Rev)
		if err != nil || rules == nil {
			return err
		}
		return p.requests.takeResult(m.result, rules, now)
	}
	rules, err := p.crawls.admits(m.crawl, m.candidates.Rev)
	if err != nil || rules == nil {
		return err
	}
	bad, err := p.discovery.take(m.candidates, rules, partitions, now)
	for _, b := range bad { // by a spec that changed meanwhile
		p.log.Warn("a URL that waited for the removal of a deleted crawl is invalid", "crawl", m.crawl, "error", b)
	}
	return err
}

func (p *Postponed) forget(crawl string) {
	if p.waiting[crawl]--; p.waiting[crawl] <= 0 {
		delete(p.waiting, crawl)
	}
}
