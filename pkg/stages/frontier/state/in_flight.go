package state

import "seine/pkg/stages/frontier/table"

// Request is one that is in progress.
type Request struct {
	*urlRecord
	id       urlID
	host     *host
	deadline int64  // when to ask what became of it
	missing  bool   // it was gone from FETCH when last asked
	unsent   bool   // it must be published, perhaps once more
	renders  bool   // its page may need a browser
	ip       string // that the host had when it was sent, for addresses
	claimant string // to whom it was last granted,
	claimed  int64  // and when, Unix ns
}

func (s *Partition) loadInFlight() error {
	pre := table.Prefix(s.partition, kindInFlight)
	return s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
		id, _ := idAtEnd(key[len(pre):])
		r, err := s.record(id)
		if err != nil {
			return false, err
		}
		if r == nil || !r.Has(key) {
			s.stray(key)
			return true, nil
		}
		h, err := s.hostOf(r.URL)
		if err != nil {
			return false, err
		}
		req := &Request{urlRecord: r, id: id, host: h, renders: s.mayRender(id.crawl, r.URL)}
		return true, s.addInFlight(req)
	})
}

// mayRender reports whether a page may need a browser. Where the spec cannot be had now, it is taken for one that needs none.
func (s *Partition) mayRender(crawl, url string) bool {
	rules, err := s.rules(crawl, 0)
	return err == nil && rules != nil && rules.mayRender(url)
}

// addInFlight notes that a request is in progress.
func (s *Partition) addInFlight(req *Request) error {
	d, err := s.domainOf(req.host)
	if err != nil {
		return err
	}
	d.inFlight++
	d.of(req.id.crawl).inFlight++
	s.touchDomain(d)
	req.host.inFlight++
	req.host.of(req.id.crawl).inFlight++
	req.host.rules = nil
	s.inFlight[req.id] = req
	if req.renders {
		s.renders++
	}
	req.ip = req.host.ip
	s.addresses.begin(req.ip)
	return nil
}

// removeInFlight notes that it no longer is.
func (s *Partition) removeInFlight(req *Request) {
	delete(s.inFlight, req.id)
	if req.renders {
		s.renders--
	}
	req.host.inFlight--
	req.host.of(req.id.crawl).inFlight--
	req.host.rules = nil
	s.addresses.end(req.ip)
	d := req.host.domain
	d.inFlight--
	d.of(req.id.crawl).inFlight--
	d.rules = nil // whose turn it is now is to be found out
	s.touchDomain(d)
}
