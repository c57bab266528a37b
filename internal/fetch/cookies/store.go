package cookies

import (
	"sync"
	"time"

	"seine/internal/base/recent"
	"seine/internal/base/weburl"
)

// DefaultBytes is how much memory a store of the fetcher may take.
const DefaultBytes = 64 << 20

// Store keeps the cookies of several crawls apart from each other, in memory. Its
// methods are safe for concurrent use.
type Store struct {
	mu   sync.Mutex // of what is in the jars
	jars recent.Cache[key, *jar]
}

// key names a jar. No cookie leaves its registrable domain.
type key struct{ crawl, domain string }

// NewStore returns a store that holds about so many bytes. Beyond that it forgets
// the cookies of domains that are seldom used.
func NewStore(bytes int) *Store {
	return &Store{jars: recent.Cache[key, *jar]{Most: bytes / 2, Weight: (*jar).bytes}}
}

// Header returns the Cookie field of a request for a canonical URL, "" if it has
// none.
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

// Set takes the Set-Cookie fields of the response to a request for a canonical
// URL.
func (s *Store) Set(crawl, url string, fields []string) {
	if len(fields) == 0 {
		return
	}
	at, now := siteOf(url), time.Now()
	var taken []field
	for _, text := range fields[max(0, len(fields)-maxPerJar):] { // those before would be evicted again
		if f, ok := parse(text, now); ok { // without the lock: it may take a while
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
	s.jars.Put(k, j) // also if it is there: its size has changed
}
