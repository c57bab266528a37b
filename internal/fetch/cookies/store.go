package cookies

import (
	"container/list"
	"sync"
	"time"

	"seine/internal/base/weburl"
)

// DefaultBytes is how much memory a store of the fetcher may take.
const DefaultBytes = 64 << 20

// Store keeps the cookies of several crawls apart from each other, in memory. Its
// methods are safe for concurrent use.
type Store struct {
	most int // bytes

	mu    sync.Mutex
	jars  map[key]*list.Element // whose Value is a *held
	order list.List             // the jar used most recently first
	bytes int
}

// key names a jar. No cookie leaves its registrable domain.
type key struct{ crawl, domain string }

type held struct {
	key   key
	jar   jar
	bytes int
}

// NewStore returns a store that holds about so many bytes. Beyond that it forgets
// the cookies of the domains that were used least recently.
func NewStore(bytes int) *Store { return &Store{most: bytes, jars: make(map[key]*list.Element)} }

// Header returns the Cookie field of a request for a canonical URL, "" if it has
// none.
func (s *Store) Header(crawl, url string) string {
	at := siteOf(url)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.jars[key{crawl, weburl.Domain(at.host)}]
	if e == nil {
		return ""
	}
	s.order.MoveToFront(e)
	return e.Value.(*held).jar.header(at, time.Now())
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
	h := s.open(key{crawl, weburl.Domain(at.host)})
	for _, f := range taken {
		h.jar.set(at, f, now)
	}
	s.bytes -= h.bytes
	if h.bytes = h.jar.bytes(); len(h.jar.cookies) == 0 {
		h.bytes = 0
		s.drop(s.order.Front())
	}
	s.bytes += h.bytes
	for s.bytes > s.most && s.order.Len() > 1 {
		oldest := s.order.Back()
		s.bytes -= oldest.Value.(*held).bytes
		s.drop(oldest)
	}
}

// open returns a jar, and makes it the one used most recently.
func (s *Store) open(k key) *held {
	if e := s.jars[k]; e != nil {
		s.order.MoveToFront(e)
		return e.Value.(*held)
	}
	h := &held{key: k}
	s.jars[k] = s.order.PushFront(h)
	return h
}

func (s *Store) drop(e *list.Element) { delete(s.jars, s.order.Remove(e).(*held).key) }
