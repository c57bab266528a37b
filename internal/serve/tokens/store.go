package tokens

import (
	"os"
	"sync"
	"time"

	"seine/internal/serve/caller"
)

// Store authenticates tokens for a running server. It is safe for concurrent use.
type Store struct {
	file string

	mu     sync.Mutex
	seen   stamp
	read   time.Time
	byHash map[string]Token
}

// stamp identifies a state of the file.
type stamp struct {
	changed time.Time
	size    int64
}

// resolution exceeds the resolution of file times. A file that had just changed when it was read is
// read again, since another change may have left its time and size.
const resolution = 2 * time.Second

// Open returns the store of a file, which need not exist yet.
func Open(file string) (*Store, error) {
	s := &Store{file: file}
	return s, s.refresh()
}

// Len returns the number of tokens.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byHash)
}

// Caller returns the owner of a secret, and whether there is one. If the file cannot be read, it
// authenticates nobody, because tokens may have been revoked. The map is keyed by the hash, so the
// time of a lookup reveals nothing about secrets.
func (s *Store) Caller(secret string) (caller.Caller, bool) {
	if err := s.refresh(); err != nil {
		return caller.Caller{}, false
	}
	s.mu.Lock()
	t, ok := s.byHash[hash(secret)]
	s.mu.Unlock()
	if !ok || !t.Expires.IsZero() && !time.Now().Before(t.Expires) {
		return caller.Caller{}, false
	}
	return caller.Caller{Name: t.Name, Scopes: t.Scopes}, true
}

// refresh reads the file if it has changed.
func (s *Store) refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var now stamp
	if info, err := os.Stat(s.file); err == nil {
		now = stamp{info.ModTime(), info.Size()}
	}
	if s.byHash != nil && now == s.seen && now.changed.Before(s.read.Add(-resolution)) {
		return nil
	}
	s.read = time.Now()
	all, err := Read(s.file)
	if err != nil {
		s.byHash = nil
		return err
	}
	s.seen, s.byHash = now, make(map[string]Token, len(all))
	for _, t := range all {
		s.byHash[t.SHA256] = t
	}
	return nil
}
