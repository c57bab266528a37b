package sqlsink

import (
	"context"
	"sync"
	"time"
)

// origin records whether the database has crawls of another stream. The rows of a crawl with the
// same name would be replaced.
type origin struct {
	lock   sync.Mutex
	looked bool
	isNew  bool            // the database has no data of this stream yet
	seen   map[string]bool // crawls that this process has checked
}

// learnOrigin checks once whether the database knows the stream that began at created.
func (s *Sink) learnOrigin(ctx context.Context, created time.Time) error {
	s.origin.lock.Lock()
	defer s.origin.lock.Unlock()
	if s.origin.looked {
		return nil
	}
	known, err := s.tables.knows(ctx, created)
	s.origin.looked, s.origin.isNew = err == nil, !known
	return err
}

// warnOfOthers logs a warning for each crawl of a new stream whose name the database already has.
// Its own errors are ignored.
func (s *Sink) warnOfOthers(ctx context.Context, chunks []*Chunk) {
	s.origin.lock.Lock()
	defer s.origin.lock.Unlock()
	if !s.origin.isNew || s.from != FromRecords {
		return
	}
	if s.origin.seen == nil {
		s.origin.seen = make(map[string]bool)
	}
	for _, c := range chunks {
		crawl := c.group.Crawl
		if s.origin.seen[crawl] {
			continue
		}
		s.origin.seen[crawl] = true
		if has, err := s.tables.hasCrawl(ctx, crawl); err == nil && has {
			s.log.Warn("the database has a crawl of this name already, from another --data or NATS server: where both have a URL or a key, "+
				"later records replace earlier ones; if this is another crawl, use another name (--crawl) or database", "crawl", crawl, "database", s.out)
		}
	}
}
