// Package replays runs replays of stored pages and records in the server, one at a time, in the
// order of creation.
//
// Package replay does the work. A replay reads the streams of a cluster or of a directory, and
// writes files to its own directory below one directory of the server, or records of a new
// generation. Request, progress and result are on disk: after a kill, the server resumes the replay
// at its next start, and no record is lost or repeated. During an outage of the cluster, a replay
// waits. It releases the stored state of a directory every few seconds, so that a crawl can start
// there.
package replays

import (
	"context"
	"crypto/rand"
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

	"seine/internal/base/filelock"
	"seine/internal/run/replay"
	"seine/internal/serve/cluster"
	"seine/pkg/stages"
)

// MostReplays bounds the stored replays, including ended ones.
const MostReplays = 100

// Errors.
var (
	ErrNone      = errors.New("no such replay")
	ErrTooMany   = fmt.Errorf("there are %d replays, the maximum", MostReplays)
	ErrFolder    = errors.New("the folder is not empty")
	ErrRuns      = errors.New("the replay has not failed: there is nothing to resume")
	ErrDropped   = errors.New("the replay cannot be resumed: its streams were removed in favour of newer failed replays; start another")
	ErrElsewhere = errors.New("another server that has the same --state runs the replays")
)

// Service runs the replays of a server. It is safe for concurrent use.
type Service struct {
	// Off disables running replays, as on a read-only server. Stored replays are listed.
	Off bool

	cluster  *cluster.Cluster
	dir, out string
	log      *slog.Logger
	wake     chan struct{}

	mu   sync.Mutex
	lock *os.File // of the directory, nil while another server holds it
	all  map[string]*task
}

// New returns the replays stored in dir, which it creates if needed. Their files are in directories
// below out. It runs no replay before Run.
func New(dir, out string, c *cluster.Cluster, log *slog.Logger) (*Service, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("replays: %w", err)
	}
	return &Service{cluster: c, dir: dir, out: out, log: log, wake: make(chan struct{}, 1)}, nil
}

// takeDirectory locks the directory and reads it, unless another server holds it. The caller holds the lock
// of the service.
func (s *Service) takeDirectory() error {
	if s.Off || s.lock != nil {
		return nil
	}
	lock, err := filelock.Take(filepath.Join(s.dir, "LOCK"))
	if errors.Is(err, filelock.ErrTaken) {
		return ErrElsewhere
	}
	if err != nil {
		return fmt.Errorf("replays: %w", err)
	}
	if s.all, err = s.read(); err != nil {
		_ = lock.Close()
		return err
	}
	s.lock = lock
	s.removeOrphans()
	return nil
}

// known returns all replays by ID. The caller holds the lock.
func (s *Service) known() (map[string]*task, error) {
	if s.Off { // another server may have changed them
		return s.read()
	}
	err := s.takeDirectory()
	return s.all, err
}

// Look returns a preview of a replay. The error is an *InputError, a *specfile.Errors, or an error
// of the streams. It changes nothing.
func (s *Service) Look(ctx context.Context, bus *stages.Bus, r Job) (*replay.Preview, error) {
	o, err := s.options(&r)
	if err != nil {
		return nil, err
	}
	o.Source = bus
	return replay.Look(ctx, o)
}

// Begin stores a replay and queues it.
func (s *Service) Begin(r Job) (Replay, error) {
	r.Created = time.Now().UTC().Truncate(time.Millisecond)
	r.ID = newID(r.Created)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.takeDirectory(); err != nil {
		return Replay{}, err
	}
	if len(s.all) >= MostReplays {
		return Replay{}, ErrTooMany
	}
	if _, err := s.options(&r); err != nil {
		return Replay{}, err
	}
	if err := s.checkFree(&r); err != nil {
		return Replay{}, err
	}
	if err := s.save(&r); err != nil {
		return Replay{}, err
	}
	j := &task{Job: r}
	s.all[r.ID] = j
	s.awake()
	return s.status(j), nil
}

// checkFree returns an error if the directory of a replay is in use or not empty. The caller holds
// the lock.
func (s *Service) checkFree(r *Job) error {
	if r.To == ToRecords {
		return nil
	}
	folder, taken := s.folderOf(r), false
	for _, other := range s.all {
		taken = taken || other.To != ToRecords && s.folderOf(&other.Job) == folder
	}
	if there, err := os.ReadDir(folder); taken || len(there) > 0 {
		return fmt.Errorf("folder %s: %w", filepath.Base(folder), ErrFolder)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("folder of the replay: %w", err)
	}
	return nil
}

func (s *Service) awake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// newID returns the ID of a replay. Later IDs sort after earlier ones.
func newID(at time.Time) string {
	return strings.ToLower(strings.ReplaceAll(at.Format("r20060102t150405.000"), ".", "") + "-" + rand.Text()[:6])
}

// ordered returns replays, the oldest first.
func ordered(all map[string]*task) (list []*task) {
	for _, id := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[id])
	}
	return list
}

// List returns the replays of a crawl, the newest first.
func (s *Service) List(crawl string) (list []Replay, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.known()
	for _, j := range slices.Backward(ordered(all)) {
		if j.Crawl == crawl {
			list = append(list, s.status(j))
		}
	}
	return list, err
}

// Get returns a replay of a crawl.
func (s *Service) Get(crawl, id string) (Replay, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(crawl, id)
	if err != nil {
		return Replay{}, err
	}
	return s.status(j), nil
}

func (s *Service) find(crawl, id string) (*task, error) {
	all, err := s.known()
	if err != nil {
		return nil, err
	}
	if j := all[id]; j != nil && j.Crawl == crawl {
		return j, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrNone, id)
}

// Remove stops a replay and removes it. Its committed output stays.
func (s *Service) Remove(crawl, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(crawl, id)
	if err != nil {
		return err
	}
	delete(s.all, id)
	if j.cancel != nil {
		j.cancel()
		s.mu.Unlock()
		<-j.ended
		s.mu.Lock()
	}
	return s.forget(id)
}

// Resume continues a failed replay.
func (s *Service) Resume(crawl, id string) (Replay, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.find(crawl, id)
	if err != nil {
		return Replay{}, err
	}
	again := j.Job
	if again.Error == "" {
		return Replay{}, ErrRuns
	}
	if again.Dropped {
		return Replay{}, ErrDropped
	}
	again.Error, again.Ended, again.Report = "", time.Time{}, nil
	if err := s.save(&again); err != nil {
		return Replay{}, err
	}
	j.Job = again
	s.awake()
	return s.status(j), nil
}

// next starts the oldest unfinished replay, and returns nil if there is none.
func (s *Service) next(ctx context.Context) (context.Context, *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.takeDirectory(); err != nil {
		s.log.Debug("replays are not run by this server", "error", err)
		return ctx, nil
	}
	s.dropStates()
	for _, j := range ordered(s.all) {
		if j.Ended.IsZero() {
			ctx, j.cancel = context.WithCancel(ctx)
			j.ended = make(chan struct{})
			return ctx, j
		}
	}
	return ctx, nil
}

// close unlocks the directory.
func (s *Service) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock != nil {
		_ = s.lock.Close()
		s.lock = nil
	}
}
