package cookies

import (
	"sync"
	"time"

	"seine/internal/base/recent"
	"seine/internal/base/weburl"
)

// DefaultBytes is the default memory limit for a fetcher's store.
const DefaultBytes = 64 << 20

// Store keeps the cookies of several crawls apart from each other, in memory. Its
// methods are safe for concurrent use.
type Store struct {
	mu   sync.Mutex // guards the contents of the jars
	jars recent.Cache[key, *jar]
}

// key identifies a jar. No cookie leaves its registrable domain.
type key struct{ crawl, domain string }

// NewStore returns a store that takes about the given number of bytes. Beyond that it drops the
// cookies of rarely used domains.
func NewStore(bytes int) *Store {
	return &Store{jars: recent.Cache[key, *jar]{Most: bytes / 2, Weight: (*jar).bytes}}
}

// Header returns the Cookie field of a request for a canonical URL, "" if it has none.
func (s *Store) Header(crawl, url string) string {
	at := siteOf(url)
	s.mu.Lock()
	defer s.mu.Unlock()
	j, ok := s.jars.Get(key{crawl, weburl.Domain(at.host)})
	if !ok {
		return ""
	}
	return j.header(at, time.Now())
}

// Set stores the Set-Cookie fields of the response to a request for a canonical URL.
func (s *Store) Set(crawl, url string, fields []string) {
	if len(fields) == 0 {
		return
	}
	at, now := siteOf(url), time.Now()
	var taken []field
	for _, text := range fields[max(0, len(fields)-maxPerJar):] { // earlier ones would be evicted again
		if f, ok := parse(text, now); ok { // without the lock, as it may take long
			taken = append(taken, f)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{crawl, weburl.Domain(at.host)}
	j, ok := s.jars.Get(k)
	if !ok {
		j = new(jar)
	}
	for _, f := range taken {
		j.set(at, f, now)
	}
	if len(j.cookies) == 0 {
		s.jars.Delete(k)
		return
	}
	s.jars.Put(k, j) // even if it exists, as its size has changed
}
