package state

import (
	"fmt"

	"seine/internal/base/jsontext"
	"seine/internal/schedule/politeness"
	"seine/pkg/stages/frontier/table"
)

// When a crawl is deleted, hosts that were asked a moment ago, or have refused, must be
// treated with care for a while, though nobody wants anything of them. They are forgotten
// later: as long as there are any, all hosts are gone through once in politeness.ForgetAfter.

// forgetting is how far that has come.
type forgetting struct {
	At      int64  `json:"at"`                // the next time to go through them, in the partition's time
	Domains bool   `json:"domains,omitempty"` // the hosts are done
	After   []byte `json:"after,omitempty"`   // the last key done
	Left    bool   `json:"left,omitempty"`    // some must still be treated with care
}

// forgetLater notes that there is a host that nobody wants anything of.
func (s *Partition) forgetLater(now int64) {
	if s.forgetting == nil {
		s.forgetting = &forgetting{At: now + int64(politeness.ForgetAfter)}
		s.forgettingChanged = true
	}
}

func (s *Partition) loadForgetting() error {
	value, err := s.store.get(table.Prefix(s.partition, kindForgetting))
	if err != nil {
		return fmt.Errorf("read which hosts are to be forgotten: %w", err)
	}
	if value == nil {
		return nil
	}
	f := &forgetting{}
	if err := jsontext.Unmarshal(value, f); err != nil {
		s.reportRepair(repairIndex, "where the forgetting of hosts has come to cannot be read, it begins again", "error", err)
		f = &forgetting{}
	}
	s.forgetting = f
	return nil
}

// storeForgetting stores with the turn where it has come to.
func (s *Partition) storeForgetting() {
	if !s.forgettingChanged {
		return
	}
	s.forgettingChanged = false
	key := table.Prefix(s.partition, kindForgetting)
	if s.forgetting == nil {
		s.tx.Delete(key)
		return
	}
	s.tx.SetJSON(key, s.forgetting)
}

// forgets reports whether hosts are being gone through now.
func (s *Partition) forgets(now int64) bool { return s.forgetting != nil && s.forgetting.At <= now }

// forgetHosts goes through some hosts, or domains, if it is time. The end of the turn
// forgets those that need not be known any more.
func (s *Partition) forgetHosts(now int64) error {
	if !s.forgets(now) {
		return nil
	}
	f := s.forgetting
	s.forgettingChanged = true
	look := s.lookAtHosts
	if f.Domains {
		look = s.lookAtDomains
	}
	last, err := look(f, now)
	switch {
	case err != nil || !last:
		return err
	case !f.Domains:
		f.Domains, f.After = true, nil
	case f.Left:
		*f = forgetting{At: now + int64(politeness.ForgetAfter)}
	default:
		s.forgetting = nil
	}
	return nil
}

func (s *Partition) lookAtHosts(f *forgetting, now int64) (last bool, err error) {
	pre := table.Prefix(s.partition, kindHost)
	var names []string
	last, err = s.pass(pre, &f.After, func(key, value []byte) error {
		name := string(key[len(pre):])
		h := s.hosts[name]
		if h == nil {
			if h, _ = decodeHost(name, value); h == nil { // it is made anew when it is its turn
				return nil
			}
		}
		switch {
		case h.forgettable(s.time.pace(now)):
			names = append(names, name)
		case h.unwanted():
			f.Left = true
		}
		return nil
	})
	for _, name := range names {
		var h *host
		if err == nil {
			h, err = s.host(name)
		}
		if err == nil {
			s.markDirty(h)
		}
	}
	return last, err
}

func (s *Partition) lookAtDomains(f *forgetting, now int64) (last bool, err error) {
	pre := table.Prefix(s.partition, kindDomain)
	var names []string
	last, err = s.pass(pre, &f.After, func(key, value []byte) error {
		d := &domain{name: string(key[len(pre):])}
		if live := s.domains[d.name]; live != nil {
			d = live
		} else if d.decode(value) != nil {
			return nil
		}
		if d.forgettable(s.time.pace(now)) {
			names = append(names, d.name)
		}
		return nil
	})
	for _, name := range names {
		var d *domain
		if err == nil {
			d, err = s.domain(name)
		}
		if err == nil {
			s.touchDomain(d)
		}
	}
	return last, err
}
