package frontier

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/weburl"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// shard is the state of one partition and what may happen to it. It knows no
// NATS and no clock: a partition loop gives it both, and so does a test.
type shard struct {
	store     *Store
	partition int
	epoch     uint64
	tx        *tx
	specs     func(crawl string, rev uint64) (*rules, error)
	budgets   *budgets
	log       *slog.Logger

	positions map[string]stages.Position
	crawls    map[string]*crawl
	hosts     map[string]*host // the active window
	touched   []*host
	ready     []*host // due, in the order of their turn
	behind    []*queue
	inFlight  map[urlID]*request
	arrival   uint64
	nextDue   int64 // no entry of the due index is before, Unix ns
	nextRetry int64 // nor of the retry index
	parked    bool  // a host waits only for its crawl's limit of pages
}

// crawl is what a partition knows of one crawl.
type crawl struct {
	Counters
	seen  *seen
	roots map[string]bool
	dirty bool
}

// request is one that is under way.
type request struct {
	*record
	id       urlID
	host     *host
	seq      uint64 // in FETCH; 0 until that is known
	deadline int64  // when to ask what became of it, Unix ns
	missing  bool   // it was gone from FETCH when last asked
	unsent   bool   // it must be published, perhaps once more
}

// maxHosts bounds the hosts in memory.
const maxHosts = 4096

// openShard reads what must be in memory of a partition.
func openShard(store *Store, partition int, epoch uint64, specs func(string, uint64) (*rules, error), b *budgets, log *slog.Logger) (*shard, error) {
	s := &shard{
		store: store, partition: partition, epoch: epoch, tx: newTx(store), specs: specs, budgets: b, log: log,
		positions: make(map[string]stages.Position), crawls: make(map[string]*crawl),
		hosts: make(map[string]*host), inFlight: make(map[urlID]*request),
	}
	for _, load := range []func() error{s.loadPositions, s.loadCrawls, s.loadSeen, s.loadInFlight} {
		if err := load(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// close gives back what the shard took of the budgets.
func (s *shard) close() {
	for name, c := range s.crawls {
		s.budgets.move(name, -c.Pages, -c.InFlight)
	}
	s.tx.close()
}

func (s *shard) loadPositions() error {
	pre := prefix(s.partition, kindPosition)
	return s.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		var p stages.Position
		if err := json.Unmarshal(value, &p); err != nil {
			return false, fmt.Errorf("read position: %w", err)
		}
		s.positions[string(key[len(pre):])] = p
		return true, nil
	})
}

func (s *shard) loadCrawls() error {
	pre := prefix(s.partition, kindCounters)
	err := s.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		c := s.crawl(string(key[len(pre):]))
		return true, json.Unmarshal(value, &c.Counters)
	})
	if err != nil {
		return fmt.Errorf("read counters: %w", err)
	}
	for name, c := range s.crawls {
		s.budgets.move(name, c.Pages, c.InFlight)
		pre := named(prefix(s.partition, kindRoot), name)
		err := s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
			c.roots[string(key[len(pre):len(key)-1])] = true
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadSeen fills the bloom filters.
func (s *shard) loadSeen() error {
	for name, c := range s.crawls {
		pre := named(prefix(s.partition, kindURL), name)
		err := s.store.scan(pre, nil, func(key, _ []byte) (bool, error) {
			c.seen.add(messages.URLHash(key[len(pre):]))
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *shard) loadInFlight() error {
	pre := prefix(s.partition, kindInFlight)
	return s.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		name, hash, err := cutName(key[len(pre):])
		if err != nil {
			return false, err
		}
		id := urlID{name, messages.URLHash(hash)}
		r, err := s.tx.load(id, s.urlKey(id))
		if err != nil || r == nil {
			return false, errors.Join(err, errRecord)
		}
		h, err := s.host(weburl.Host(r.URL))
		if err != nil {
			return false, err
		}
		req := &request{record: r, id: id, host: h}
		if len(value) > 0 {
			if err := json.Unmarshal(value, &req.seq); err != nil {
				return false, fmt.Errorf("read request under way: %w", err)
			}
		}
		h.inFlight++
		s.inFlight[id] = req
		return true, nil
	})
}

// cutName splits a name and its end from what follows.
func cutName(k []byte) (name string, rest []byte, err error) {
	for i, c := range k {
		if c == 0 {
			return string(k[:i]), k[i+1:], nil
		}
	}
	return "", nil, errors.New("key without the end of a name")
}

// record returns what is known of a URL, nil if that is nothing.
func (s *shard) record(id urlID) (*record, error) {
	if req := s.inFlight[id]; req != nil {
		return req.record, nil
	}
	return s.tx.load(id, s.urlKey(id))
}

// crawl returns what the partition knows of a crawl, perhaps nothing yet.
func (s *shard) crawl(name string) *crawl {
	c := s.crawls[name]
	if c == nil {
		c = &crawl{seen: newSeen(), roots: make(map[string]bool)}
		s.crawls[name] = c
	}
	return c
}

// host returns a host, from memory or from the store.
func (s *shard) host(name string) (*host, error) {
	if h := s.hosts[name]; h != nil {
		return h, nil
	}
	s.evict()
	h := &host{name: name}
	val, closer, err := s.store.db.Get(s.hostKey(name))
	switch {
	case errors.Is(err, pebble.ErrNotFound):
	case err != nil:
		return nil, fmt.Errorf("read host %s: %w", name, err)
	default:
		h, err = decodeHost(name, val)
		_ = closer.Close()
		if err != nil {
			return nil, err
		}
	}
	s.hosts[name] = h
	return h, nil
}

// evict makes room in the window of hosts.
func (s *shard) evict() {
	if len(s.hosts) < maxHosts {
		return
	}
	for name, h := range s.hosts {
		if h.inFlight == 0 && !h.dirty && !h.ready {
			delete(s.hosts, name)
		}
		if len(s.hosts) < maxHosts*3/4 {
			return
		}
	}
}

// touch notes that a host changed.
func (s *shard) touch(h *host) {
	if !h.dirty {
		h.dirty = true
		s.touched = append(s.touched, h)
	}
}

// wanted is the entry that a host must have in the due index: when it may be
// asked next, 0 if it has nothing to ask for or too much under way.
func (s *shard) wanted(h *host) int64 {
	if len(h.Queued) == 0 || h.inFlight >= s.limitOf(h) {
		return 0
	}
	return max(h.Next, 1)
}

// limitOf is how many requests the host takes at once: the least that one of
// its crawls says.
func (s *shard) limitOf(h *host) int {
	limit := 0
	for name := range h.Queued {
		r, err := s.specs(name, 0)
		if err != nil {
			continue
		}
		if n := h.limit(r.Spec); limit == 0 || n < limit {
			limit = n
		}
	}
	return limit
}

// move changes the state of a URL and the counters with it.
func (s *shard) move(r *record, id urlID, to State, reason string, now int64) {
	c := s.crawl(id.crawl)
	if r.State != 0 {
		c.count(r.State, r.Reason, -1)
	}
	r.State, r.Reason, r.Changed = to, reason, now/int64(time.Millisecond)
	c.count(to, reason, 1)
	c.Changed = r.Changed
	if c.Started == 0 {
		c.Started = r.Changed
	}
	c.dirty = true
	s.tx.change(id, r)
}

// commit ends a turn: what changed becomes durable at once.
func (s *shard) commit() error {
	for _, h := range s.touched {
		if want := s.wanted(h); want != h.Due {
			s.index(h, want)
		}
		text, err := json.Marshal(h)
		if err != nil {
			return fmt.Errorf("encode host %s: %w", h.name, err)
		}
		s.tx.set(s.hostKey(h.name), text)
		h.dirty = false
	}
	s.touched = s.touched[:0]
	for name, c := range s.crawls {
		if !c.dirty {
			continue
		}
		text, err := json.Marshal(&c.Counters)
		if err != nil {
			return fmt.Errorf("encode counters of %s: %w", name, err)
		}
		s.tx.set(append(prefix(s.partition, kindCounters), name...), text)
		c.dirty = false
	}
	for id, r := range s.tx.changed {
		s.tx.set(s.urlKey(id), r.append(nil))
	}
	if err := s.tx.commit(); err != nil {
		return err
	}
	for _, q := range s.behind {
		q.behind = false
	}
	s.behind = s.behind[:0]
	return nil
}

// index moves the host's entry in the due index.
func (s *shard) index(h *host, want int64) {
	if h.Due != 0 {
		s.tx.delete(s.dueKey(h.Due, h.name))
	}
	if want != 0 {
		s.tx.set(s.dueKey(want, h.name), nil)
		s.nextDue = min(s.nextDue, want)
	}
	h.Due = want
}

// reach notes how far a stream has been applied; it is stored with the turn.
func (s *shard) reach(stream string, at stages.Position) error {
	text, err := json.Marshal(at)
	if err != nil {
		return fmt.Errorf("encode position: %w", err)
	}
	s.positions[stream] = at
	s.tx.set(append(prefix(s.partition, kindPosition), stream...), text)
	return nil
}
