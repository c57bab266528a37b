// Package webhooks posts ended crawls and batches of records to receivers over HTTP.
//
// It reads ended runs from the frontiers, and RECORDS from a position of each webhook on. Posts are
// signed (sign.go) and sent one at a time for each webhook: the records of a crawl in order,
// followed by its end. Each post is sent at least once, and retried with the same ID until the
// receiver accepts it. The pending post and the position are on disk before the post is sent, so a
// killed server resumes there and reports what happened meanwhile. Webhooks do not block the crawl:
// RECORDS expires as usual, and a receiver that was unavailable for longer gets the number of
// messages that it missed.
package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"seine/internal/base/atomicfile"
	"seine/internal/base/filelock"
	"seine/internal/base/sleep"
	"seine/internal/ops/webhook"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
)

// MostHooks bounds the webhooks of a server, because each has a batch in memory.
const MostHooks = 32

// Errors of Add and Remove.
var (
	ErrThere     = errors.New("a webhook with that name exists")
	ErrNone      = errors.New("no webhook with that name")
	ErrTooMany   = fmt.Errorf("there are %d webhooks, the maximum", MostHooks)
	ErrElsewhere = errors.New("another server that has the same --state delivers the webhooks")
)

// Service delivers the webhooks of a server. It is safe for concurrent use.
type Service struct {
	// AllowPrivate permits webhooks to loopback and private addresses.
	AllowPrivate bool
	// Wait returns the wait after a number of failed attempts.
	Wait func(tries int) time.Duration

	cluster *cluster.Cluster
	log     *slog.Logger
	dir     string
	ends    *ends
	began   chan struct{} // closed when Run holds the directory

	mu      sync.Mutex
	ctx     context.Context // of Run, nil while it does not run or another server holds the directory
	senders map[string]*sender
	running sync.WaitGroup
}

// New returns the webhooks stored in dir, which it creates if needed. It sends nothing before Run.
func New(dir string, c *cluster.Cluster, log *slog.Logger) (*Service, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return &Service{Wait: webhook.Wait, cluster: c, log: log, dir: dir, ends: newEnds(c, log), began: make(chan struct{}), senders: make(map[string]*sender)}, nil
}

// lockWait is the interval between checks whether another server still holds the directory.
const lockWait = 2 * time.Second

// Run delivers until ctx is done. It waits while another server delivers from the same directory.
func (s *Service) Run(ctx context.Context) {
	lock, err := filelock.Take(filepath.Join(s.dir, "LOCK"))
	for told := false; err != nil; lock, err = filelock.Take(filepath.Join(s.dir, "LOCK")) {
		if !told {
			s.log.Info("webhooks are not delivered by this server", "error", err)
			told = true
		}
		if sleep.For(ctx, lockWait) != nil {
			return
		}
	}
	defer lock.Close()
	defer s.running.Wait()
	if err := s.start(ctx); err != nil {
		s.log.Error("webhooks cannot be delivered", "error", err)
		return
	}
	s.ends.run(ctx, s.wanted)
	s.mu.Lock()
	s.ctx = nil
	s.mu.Unlock()
}

// start starts all stored webhooks.
func (s *Service) start(ctx context.Context) error {
	all, err := readAll(s.dir, s.log)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = ctx
	for _, f := range all {
		s.startOne(f, State{})
	}
	close(s.began)
	return nil
}

// beginTime bounds the wait of a request for a server that has just started.
const beginTime = time.Second

// awaitBegin waits briefly until Run holds the directory.
func (s *Service) awaitBegin() {
	select {
	case <-s.began:
	case <-time.After(beginTime):
	}
}

// startOne starts a webhook with a state. The caller holds the lock.
func (s *Service) startOne(f *file, stand State) {
	ctx, cancel := context.WithCancel(s.ctx)
	one := &sender{service: s, file: f, cancel: cancel, ended: make(chan struct{}), stand: stand}
	s.senders[f.Hook.Name] = one
	s.running.Go(func() {
		defer close(one.ended)
		one.run(ctx)
	})
}

// wanted returns the crawls with a webhook for their ends; all is set if a webhook wants those of
// all crawls.
func (s *Service) wanted() (crawls []string, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.senders {
		if h := &one.file.Hook; h.Wants(CrawlEnded) {
			all = all || h.Crawl == ""
			crawls = append(crawls, h.Crawl)
		}
	}
	slices.Sort(crawls)
	return slices.Compact(crawls), all
}

// Add stores and starts a webhook, and sets its Secret and Created. It posts events from now on.
func (s *Service) Add(ctx context.Context, h Hook) (Hook, error) {
	h.Secret, h.Created = newSecret(), time.Now().UTC()
	s.awaitBegin()
	f := &file{V: 1, Hook: h, Progress: progress{Posted: make(map[string]postedEnd)}}
	if err := s.beginNow(ctx, f); err != nil {
		return h, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayAdd(h.Name); err != nil {
		return h, err
	}
	if err := f.save(s.dir); err != nil {
		return h, err
	}
	s.startOne(f, State{})
	return h, nil
}

// mayAdd checks whether a webhook can be added. The caller holds the lock.
func (s *Service) mayAdd(name string) error {
	switch {
	case s.ctx == nil:
		return ErrElsewhere
	case s.senders[name] != nil:
		return fmt.Errorf("%w: %s", ErrThere, name)
	case len(s.senders) >= MostHooks:
		return ErrTooMany
	}
	return nil
}

// beginNow sets the start of a webhook to the current positions. If no crawl exists, it starts at
// the beginning.
func (s *Service) beginNow(ctx context.Context, f *file) error {
	err := s.mayRead(ctx, &f.Hook)
	if err == nil {
		err = s.cluster.Do(ctx, func(ctx context.Context, bus *stages.Bus) error { return f.beginNow(ctx, bus) })
	}
	if errors.Is(err, cluster.ErrEmpty) {
		return nil
	}
	return err
}

// Remove stops and removes a webhook.
func (s *Service) Remove(name string) error {
	s.awaitBegin()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.stopOne(name); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(s.dir, name+atomicfile.JSON)); err != nil {
		return fmt.Errorf("forget webhook %s: %w", name, err)
	}
	delete(s.senders, name)
	return nil
}

// stopOne stops a webhook, after which its file is not written. The caller holds the lock.
func (s *Service) stopOne(name string) (*sender, error) {
	one := s.senders[name]
	switch {
	case s.ctx == nil:
		return nil, ErrElsewhere
	case one == nil:
		return nil, ErrNone
	}
	one.cancel()
	<-one.ended
	return one, nil
}

// Rotate replaces the secret of a webhook. The previous secret also signs for the overlap, so that
// the receiver can switch; with no overlap it is invalid at once. The current post is sent again.
func (s *Service) Rotate(name string, overlap time.Duration) (Hook, error) {
	s.awaitBegin()
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.stopOne(name)
	if err != nil {
		return Hook{}, err
	}
	h := &one.file.Hook
	was := *h
	h.Secret, h.Old, h.OldUntil = newSecret(), "", time.Time{}
	if overlap > 0 {
		h.Old, h.OldUntil = was.Secret, time.Now().Add(overlap).UTC()
	}
	if err = one.file.save(s.dir); err != nil {
		*h = was
	}
	made := *h
	s.startOne(one.file, one.state())
	return made, err
}

// List returns all webhooks by name with their states, without secrets.
func (s *Service) List() ([]Listed, error) {
	s.awaitBegin()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil {
		return nil, ErrElsewhere
	}
	var all []Listed
	for _, one := range slices.SortedFunc(maps.Values(s.senders), func(a, b *sender) int { return strings.Compare(a.file.Hook.Name, b.file.Hook.Name) }) {
		all = append(all, Listed{one.file.Hook.public(), one.state()})
	}
	return append(all, unreadable(s.dir)...), nil
}
