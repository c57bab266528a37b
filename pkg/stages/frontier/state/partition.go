package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
	"seine/internal/schedule/politeness"
	"seine/internal/schedule/traps"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/frontierapi"
)

// Partition is the state of one partition and what may happen to it. It knows no
// NATS: a partition loop gives it that, and so does a test. Its methods change the
// turn under way; commit ends it. What they call now is its own time: see timeline.
type Partition struct {
	store     *Store
	partition int
	// partitions is how many there are.
	partitions int
	epoch      uint64
	time       *timeline
	tx         *tx
	specs      SpecSource
	log        *slog.Logger
	offline    bool // see Config.Offline

	positions      map[string]messages.Position
	crawls         map[string]*crawl
	stale          []string           // crawls that have ended and are to be woken: see wakeStale
	isStale        map[string]bool    // the same
	stored         judged             // as the store has it
	judged         judged             // as it is stored
	lookedAt       crawlspec.Progress // up to where changed specs were looked at: see findStale
	gone           map[string]bool    // crawls that were removed in this turn: the store shows them until its end
	holdsCrawls    bool               // there is, or was, a crawl
	hosts          map[string]*host   // the active window
	domains        map[string]*domain
	maxHosts       int
	touched        []*host
	touchedDomains []*domain
	ready          []*host // due, in the order of their turn
	windows        int     // queues with a window in memory
	behind         []*queue
	inFlight       map[urlID]*Request
	addresses      *IPLimiter
	arrival        uint64
	replaying      bool   // the state is behind the streams
	nextLease      int64  // no request under way is to be looked for before: see lost
	nextDue        int64  // no entry of the due index is before
	nextRetry      int64  // nor of the retry index
	specsGen       uint64 // grows when a spec has changed
	loader         *loader
	recent         *recentLinks
	troubles       failureRing
	scratch        []byte
	emptied        []emptied
	told           map[string]bool // kinds of faults of the store that were logged: see mended
	postponed      map[string]int  // messages that wait, by crawl
	lastPostponed  uint64
	forgetting     *forgetting // nil if there is nothing to forget
	// forgettingChanged says that it is to be stored.
	forgettingChanged bool
	seeds             []*messages.Candidates // of specs, to be published
	removed           int                    // deleted crawls that were forgotten, and may be in the last snapshot
}

// SpecSource gives a partition the specs of the crawls.
type SpecSource interface {
	// rules returns the newest spec of a crawl, at least of revision rev.
	Rules(crawl string, rev uint64) (*Rules, error)
	// generation grows with every change of any of them.
	Generation() uint64
	// changes returns what has become known after a generation, of each crawl at least
	// the last change.
	Changes(since uint64) []crawlspec.Change
	// known says up to where all is known, and in what changes returns after the call.
	Known() crawlspec.Progress
	// revision returns the revision of a crawl's spec, and whether that is known.
	Revision(crawl string) (rev uint64, known bool)
	// seeded reports whether the spec of a crawl lists seeds, as far as it is known.
	Seeded(crawl string) bool
	// deletion returns the last deletion of a crawl as far as it is known, nil if
	// there is none.
	Deletion(crawl string) *messages.Deletion
}

// crawl is what a partition knows of one crawl.
type crawl struct {
	crawlState
	seen    *seen
	salt    uint64                    // of the run under way, in Partition.recent
	salted  int64                     // the run that it is of
	marks   map[messages.URLHash]bool // of paramOrderSeen in this turn
	shapes  *traps.PatternCounter
	roots   map[root]bool // cache: whether seeds opened a host or domain
	quota   quota
	audited int64 // when an audit began
	unpark  bool  // what is parked is to be put back
	// opening says that URLs of hosts that seeds opened are to be taken back.
	opening bool
	// unchanged says that links of pages that are unchanged are to be found again.
	unchanged bool
	dirty     bool
	runs      map[int64]*frontierapi.Run // whose figures change in this turn: see figuresOf

	rules    *Rules
	rulesFor uint64 // Partition.specsGen that rules were read under
	wasStale bool   // it was woken for no other reason: see wakeStale
	listed   bool   // the store has its kindAwake
	// idleFrom is since when nothing has happened: the last thing then was changedAt.
	idleFrom, changedAt int64
	seedsSent           sentSeeds
	metadata            presence // of URLs with metadata
	nextRun             int64    // when the schedule starts the crawl again, Unix ns; 0 if it does not
}

// crawlState is the stored part of it.
type crawlState struct {
	frontierapi.Counters
	Examples frontierapi.Examples `json:"examples,omitzero"`
	Print    uint64               `json:"print,omitempty"` // of the rules that the URLs were judged by last
	// LatestRun is the latest that URLs were found by, in any partition.
	LatestRun int64 `json:"latest_run,omitempty"`
	// Rev is the revision of the spec that has these rules, Scheduled whether its
	// schedule starts runs, Build tells the build.
	Rev   uint64 `json:"rev,omitempty"`
	Build uint64 `json:"build,omitempty"`
	// Scheduled crawls do not end.
	Scheduled bool `json:"scheduled,omitempty"`
	// Schedule is that of the runs, with its time zone, and ScheduleSince when it was
	// given to the crawl, Unix ms: runs that it names before are not made up for.
	Schedule      string `json:"schedule,omitempty"`
	ScheduleSince int64  `json:"schedule_since,omitempty"`
	// Links tells apart the rules for links, which are as they are since LinksRev.
	Links    uint64 `json:"links,omitempty"`
	LinksRev uint64 `json:"links_rev,omitempty"`
	// Review is where the judging of all URLs by changed rules has come to.
	Review *sweep `json:"review,omitempty"`
	// Reseed is where the feeding of all seeds, or of all URLs, to a new run has come
	// to, Again the last run that visits all, as the spec names it.
	Reseed *sweep `json:"reseed,omitempty"`
	Again  int64  `json:"again,omitempty"`
	// Layout is that of the crawl's keys: see convert.
	Layout int `json:"layout,omitempty"`
	// Since is the revision of the deletion of the name that this crawl came after.
	Since uint64 `json:"since,omitempty"`
	// Removing is where forgetting the crawl has come to, once it was deleted.
	Removing *removal `json:"removing,omitempty"`
	// Seeding is whether it was fed the seeds of its spec.
	Seeding seeding `json:"seeding,omitzero"`
}

// sweep is a walk through many keys, over many turns and restarts.
type sweep struct {
	After []byte `json:"after,omitempty"` // the last hash done
	// Count is what an audit has counted up to there: see Partition.audit.
	Count *frontierapi.Counters `json:"count,omitempty"`
	// All says that a new run is fed all URLs, not the seeds alone.
	All bool `json:"all,omitempty"`
	// Seeds is how many of those of the spec were fed to a new run.
	Seeds int `json:"seeds,omitempty"`
}

// Request is one that is under way.
type Request struct {
	*urlRecord
	id       urlID
	host     *host
	seq      uint64 // in FETCH; 0 until that is known
	deadline int64  // when to ask what became of it
	missing  bool   // it was gone from FETCH when last asked
	unsent   bool   // it must be published, perhaps once more
	ip       string // that the host had when it was sent, for addresses
	asker    string // who was last told that it is wanted,
	asked    int64  // and when, Unix ns
}

// Options are what a partition is opened with.
type Options struct {
	Partition int
	// partitions is how many there are, 0 is one.
	Partitions int
	Epoch      uint64
	Clock      *Clock
	Specs      SpecSource
	MaxHosts   int   // in memory
	Recent     int64 // bytes for URLs seen lately
	Offline    bool  // see Config.Offline
	Replaying  bool  // the state is behind the streams, until resume
	Addresses  *IPLimiter
	Log        *slog.Logger
}

// Open reads what must be in memory of a partition. The filters of known
// URLs are filled while it already works.
func Open(ctx context.Context, store *Store, o Options) (*Partition, error) {
	s := &Partition{
		store: store, partition: o.Partition, partitions: max(1, o.Partitions), epoch: o.Epoch, tx: newTx(store), specs: o.Specs, log: o.Log, offline: o.Offline,
		crawls: make(map[string]*crawl), isStale: make(map[string]bool), gone: make(map[string]bool), postponed: make(map[string]int),
		hosts: make(map[string]*host), domains: make(map[string]*domain), maxHosts: o.MaxHosts, inFlight: make(map[urlID]*Request),
		addresses: o.Addresses, replaying: o.Replaying, nextLease: math.MaxInt64, recent: newRecentLinks(o.Recent), told: make(map[string]bool),
	}
	o.Addresses.arrived()
	loadCrawls := func() error { return s.loadCrawls(o.Clock) }
	for _, load := range []func() error{s.loadPositions, loadCrawls, s.loadInFlight, s.checkInFlight, s.loadPostponed, s.loadUnsaved, s.loadForgetting} {
		if err := load(); err != nil {
			s.release()
			return nil, err
		}
	}
	s.loader = startLoader(ctx, s)
	return s, nil
}

// loadUnsaved finds out whether a snapshot was still to be made when the store was
// closed, of a state from which a crawl was removed.
func (s *Partition) loadUnsaved() error {
	unsaved, err := s.store.has(prefix(s.partition, kindUnsaved))
	if unsaved {
		s.removed++
	}
	return err
}

// Close gives back what the partition shares with others; what was not committed is lost.
func (s *Partition) Close() {
	s.loader.stop()
	s.release()
	for _, c := range s.crawls {
		c.seen.drop()
	}
}

// release gives back what others share.
func (s *Partition) release() {
	s.tx.close()
	for _, req := range s.inFlight {
		s.addresses.end(req.ip)
	}
}

func (s *Partition) loadPositions() (err error) {
	s.positions, err = s.store.positions(s.partition, func(stream string, err error) {
		s.mended(mendPosition, "a position cannot be read, the stream is read from its beginning", "stream", stream, "error", err)
	})
	return err
}

// positions are how far the streams are applied in a partition. Bad is called for
// what cannot be read.
func (s *Store) positions(of int, bad func(stream string, err error)) (map[string]messages.Position, error) {
	all := make(map[string]messages.Position)
	pre := prefix(of, kindPosition)
	return all, s.scan(pre, nil, func(key, value []byte) (bool, error) {
		var p messages.Position
		if err := jsontext.Unmarshal(value, &p); err != nil {
			bad(string(key[len(pre):]), err)
			return true, nil
		}
		all[string(key[len(pre):])] = p
		return true, nil
	})
}

func (s *Partition) loadInFlight() error {
	pre := prefix(s.partition, kindInFlight)
	return s.store.scan(pre, nil, func(key, value []byte) (bool, error) {
		id, ok := idAtEnd(key[len(pre):])
		r, err := s.record(id)
		if err != nil {
			return false, err
		}
		if !ok || r == nil || r.State != InFlight {
			s.tx.delete(bytes.Clone(key))
			s.mended(mendInFlight, "a request is under way for a URL that is not, it is forgotten", "crawl", id.crawl, "url_hash", id.hash)
			if ok {
				s.audit(id.crawl)
			}
			return true, nil
		}
		h, err := s.hostOf(r.URL)
		if err != nil {
			return false, err
		}
		req := &Request{urlRecord: r, id: id, host: h}
		if len(value) > 0 {
			if err := jsontext.Unmarshal(value, &req.seq); err != nil { // it is sent again, with the same identity
				s.mended(mendInFlight, "the place of a request in FETCH cannot be read", "url", r.URL, "error", err)
			}
		}
		return true, s.addInFlight(req)
	})
}

// addInFlight notes that a request is under way.
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
	req.ip = req.host.ip
	s.addresses.begin(req.ip)
	return nil
}

// removeInFlight notes that it no longer is.
func (s *Partition) removeInFlight(req *Request) {
	delete(s.inFlight, req.id)
	req.host.inFlight--
	req.host.of(req.id.crawl).inFlight--
	req.host.rules = nil
	s.addresses.end(req.ip)
	d := req.host.domain
	d.inFlight--
	d.of(req.id.crawl).inFlight--
	d.rules = nil // whose turn it is now is to be found out
	s.touchDomain(d)
	s.tx.delete(s.inFlightKey(req.id))
}

// anew begins a sweep from the first URL.
func (w *sweep) anew() *sweep {
	if w.audits() {
		return &sweep{Count: &frontierapi.Counters{}}
	}
	return &sweep{}
}

// idAtEnd returns the URL that a key ends with: crawl and hash.
func idAtEnd(k []byte) (urlID, bool) {
	name, hash, err := cutName(k)
	if err != nil || len(hash) != len(messages.URLHash{}) {
		return urlID{}, false
	}
	return urlID{name, messages.URLHash(hash)}, true
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
func (s *Partition) record(id urlID) (*urlRecord, error) {
	if req := s.inFlight[id]; req != nil {
		return req.urlRecord, nil
	}
	r, err := s.tx.load(id, s.urlKey(id))
	if errors.Is(err, errRecord) {
		return nil, s.unreadable(id, err)
	}
	return r, err
}

// crawl returns what the partition knows of a crawl, perhaps nothing yet.
func (s *Partition) crawl(name string) *crawl {
	if c := s.crawls[name]; c != nil {
		return c
	}
	return s.awaken(name)
}

// rules returns the spec of a crawl, at least of revision rev; the same for a
// whole turn, unless a message is ahead of it. If the rules are others than
// before, the URLs of the crawl are judged again, step by step, and what was
// parked may go: see review. This is noted with the first URL that the new
// rules judge, or a change back would leave that one as it is.
func (s *Partition) rules(name string, rev uint64) (*Rules, error) {
	c := s.crawl(name)
	if c.rules != nil && c.rulesFor == s.specsGen && c.rules.Rev >= rev {
		return c.rules, nil
	}
	r, err := s.specs.Rules(name, rev)
	if err != nil {
		return nil, err
	}
	if c.rules != r {
		c.nextRun = 0 // it may have another schedule
	}
	c.rules, c.rulesFor = r, s.specsGen
	if r.Still { // what is decided meanwhile is judged again by the spec that comes
		c.dirty, c.Print = c.dirty || c.Print != r.fingerprint, r.fingerprint
		return r, nil
	}
	if c.Started != 0 && !c.doomed(r) && (c.Rev != r.Rev || c.Build != buildPrint()) {
		c.judgedBy(r)
	}
	if c.Started != 0 && !c.doomed(r) && c.Print != r.fingerprint { // it has URLs, judged by other rules
		c.Print, c.dirty, c.Review, c.unpark, c.quota = r.fingerprint, true, c.Review.anew(), true, quota{asked: c.quota.asked}
	}
	return r, nil
}

// hostOf returns the host of a URL.
func (s *Partition) hostOf(url string) (*host, error) { return s.host(weburl.Host(url)) }

// host returns a host, from memory or from the store.
func (s *Partition) host(name string) (*host, error) {
	if h := s.hosts[name]; h != nil {
		return h, nil
	}
	s.evict()
	h, err := s.readHost(name)
	if errors.Is(err, errHost) {
		h, err = s.rebuildHost(name, err)
	}
	if err == nil {
		s.hosts[name] = h
	}
	return h, err
}

// readHost reads a host from the store.
func (s *Partition) readHost(name string) (*host, error) {
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
		h.polite.Bound(s.time.pace(s.time.now()))
	}
	return h, nil
}

// evict makes room in the window of hosts.
func (s *Partition) evict() {
	if len(s.hosts) < s.maxHosts {
		return
	}
	for name, h := range s.hosts {
		if h.inFlight == 0 && !h.dirty && !h.ready {
			for _, w := range h.work {
				if w.queue != nil {
					s.windows--
				}
			}
			if h.domain != nil {
				h.domain.refs--
			}
			delete(s.hosts, name)
		}
		if len(s.hosts) < s.maxHosts*7/8 {
			break
		}
	}
	s.evictDomains()
}

// markDirty notes that a host changed.
func (s *Partition) markDirty(h *host) {
	if !h.dirty {
		h.dirty = true
		s.touched = append(s.touched, h)
	}
}

// rulesOf returns how a host is to be asked: the strictest of what its crawls
// say.
func (s *Partition) rulesOf(h *host) (*politeness.Rules, error) {
	if h.rules != nil && h.rulesFor == s.specsGen {
		return h.rules, nil
	}
	var strictest *politeness.Rules
	name, grouped := h.hostname(), false
	for _, w := range h.work {
		if !w.active() {
			continue
		}
		r, err := s.rules(w.crawl, 0)
		if err != nil {
			return nil, err
		}
		grouped = grouped || r.GroupBy == crawlspec.GroupByDomain
		if p := r.paceOf(name); strictest == nil {
			strictest = &p.Rules
		} else {
			both := politeness.Strictest(*strictest, p.Rules)
			strictest = &both
		}
	}
	h.rules, h.rulesFor, h.grouped, h.shared = strictest, s.specsGen, grouped, nil
	if grouped {
		h.shared = shared(strictest)
	}
	return strictest, nil
}

// nextDueTime is the entry that a host must have in the due index: when it may be
// asked next, 0 if it has nothing to ask for or too much under way.
func (s *Partition) nextDueTime(h *host, now int64) (int64, error) {
	waiting := false
	for _, w := range h.work {
		waiting = waiting || w.queued > 0 && !w.parked
	}
	if !waiting {
		return 0, nil
	}
	rules, err := s.rulesOf(h)
	switch {
	case err != nil:
		return 0, err
	case s.isHostAbandoned(h, rules, now):
		return 1, nil // to be told so at once
	case h.inFlight >= h.polite.Limit(rules):
		return 0, nil
	}
	return max(min(s.time.earliest(&h.polite, rules, now), now+lookAgain), h.notBefore, 1), nil
}

// lookAgain is how far ahead an entry of the due index is at most. Then it is seen
// when the host may really go, by the rules and the time of day as they are then.
const lookAgain = int64(time.Hour)

// setState changes the state of a URL and the counters with it.
func (s *Partition) setState(r *urlRecord, id urlID, to State, reason string, now int64) {
	c := s.crawl(id.crawl)
	c.tally(id.hash, func(n *frontierapi.Counters) { countRecord(n, r, -1) })
	forgetExample(&c.Examples, r)
	r.State, r.Reason, r.Changed = to, reason, s.time.wallMS(now)
	c.tally(id.hash, func(n *frontierapi.Counters) { countRecord(n, r, 1) })
	addExample(&c.Examples, r)
	c.Changed = r.Changed
	if c.Started == 0 {
		c.Started = r.Changed
	}
	if to == Failed {
		s.countFailed(r, id, now)
	}
	c.dirty = true
	s.tx.change(id, r)
}

// Commit ends a turn: what changed becomes durable at once.
func (s *Partition) Commit(now int64) error {
	for _, h := range s.touched {
		want, err := s.nextDueTime(h, now)
		if err != nil {
			return err
		}
		if err := s.index(h, want); err != nil {
			return err
		}
		if h.forgettable(s.time.pace(now)) { // it stays in memory: the store still shows it in this turn
			s.tx.delete(s.hostKey(h.name))
		} else {
			s.scratch = h.append(s.scratch[:0])
			s.tx.set(s.hostKey(h.name), s.scratch)
		}
		h.dirty = false
	}
	s.touched = s.touched[:0]
	for _, d := range s.touchedDomains {
		s.commitDomain(d, now)
	}
	s.touchedDomains = s.touchedDomains[:0]
	for name, c := range s.crawls {
		if !c.dirty {
			continue
		}
		c.dirty = false
		if !c.known() { // of one that has no URL here all is known again from its spec
			continue
		}
		text, err := json.Marshal(&c.crawlState)
		if err != nil {
			return fmt.Errorf("encode counters of %s: %w", name, err)
		}
		s.tx.set(s.countersKey(name), text)
		if err := s.storeRuns(name, c); err != nil {
			return err
		}
		s.list(name, c)
	}
	for id, r := range s.tx.changed {
		s.scratch = r.append(s.scratch[:0])
		s.tx.set(s.urlKey(id), s.scratch)
	}
	if err := s.storeForgetting(); err != nil {
		return err
	}
	if err := s.storeTime(); err != nil {
		return err
	}
	if err := s.tx.commit(); err != nil {
		return err
	}
	for _, q := range s.behind {
		q.behind = false
	}
	s.behind = s.behind[:0]
	clear(s.gone)
	if err := s.checkEmptied(); err != nil {
		return err
	}
	for _, c := range s.crawls {
		clear(c.marks)
		if len(c.roots) > maxRoots {
			clear(c.roots)
		}
	}
	s.forget()
	return nil
}

// SetPosition notes how far a stream has been applied; it is stored with the turn.
func (s *Partition) SetPosition(stream string, at messages.Position) error {
	text, err := json.Marshal(at)
	if err != nil {
		return fmt.Errorf("encode position: %w", err)
	}
	s.positions[stream] = at
	s.tx.set(append(prefix(s.partition, kindPosition), stream...), text)
	return nil
}

// RunTimers does what is due without a message: filters that have been filled,
// specs that changed, runs that start, retries. It comes first in a turn, while
// the store shows all there is.
func (s *Partition) RunTimers(now int64) error {
	s.loader.collect(s)
	if s.hasNews() {
		before := s.specsGen
		s.specsGen = s.specs.Generation()
		if err := s.specsChanged(before); err != nil {
			return err
		}
	}
	s.wakeStale()
	if err := s.retries(now); err != nil { // before any is planned that the store does not show yet
		return err
	}
	if err := s.forgetHosts(now); err != nil {
		return err
	}
	for name, c := range s.crawls {
		rules, err := s.rules(name, 0)
		if err != nil {
			return err
		}
		if s.letGo(name, c, now) {
			continue
		}
		if err := s.tendCrawl(name, c, rules, now); err != nil {
			return err
		}
	}
	s.judgeDone()
	return nil
}

func (s *Partition) tendCrawl(name string, c *crawl, rules *Rules, now int64) error {
	if !c.known() {
		if c.mustFeedSeeds(rules) {
			s.feedSeeds(name, c, rules)
		}
		return nil
	}
	if c.doomed(rules) {
		_, err := s.remove(name, c, rules, now)
		return err
	}
	if rules.Still {
		return nil
	}
	if err := s.startRun(name, c, rules, now); err != nil {
		return err
	}
	if c.unpark {
		done, err := s.unpark(name, now)
		if err != nil {
			return err
		}
		c.unpark = !done
	}
	if c.opening {
		if err := s.admitOpened(name, c, rules, now); err != nil {
			return err
		}
	}
	if c.unchanged {
		if err := s.findAgain(name, c, rules, now); err != nil {
			return err
		}
	}
	if c.Reseed != nil {
		if err := s.reseed(name, c, rules, now); err != nil {
			return err
		}
	}
	if c.mustFeedSeeds(rules) {
		s.feedSeeds(name, c, rules)
	}
	if s.stuck(c, rules) {
		s.audit(name)
	}
	if c.Review != nil {
		return s.reevaluate(name, c, rules, now)
	}
	return nil
}

// Busy reports whether tend has more to do at once.
func (s *Partition) Busy() bool { return s.settling() || s.forgets(s.time.now()) }

// settling reports whether specs and messages that have come are still to be obeyed,
// step by step, in some crawl.
func (s *Partition) settling() bool {
	if s.hasNews() || len(s.stale)+len(s.postponed) > 0 {
		return true
	}
	for _, c := range s.crawls {
		if c.working() {
			return true
		}
	}
	return false
}

// hasNews reports whether specs have changed since the last turn.
func (s *Partition) hasNews() bool { return s.specs.Generation() != s.specsGen }

// working reports whether something is being done with many of the crawl's URLs or
// hosts, step by step.
func (c *crawl) working() bool {
	return c.Removing != nil || !c.standsStill() && (c.unpark || c.opening || c.unchanged || c.Reseed != nil || c.Review != nil)
}

// standsStill reports whether the crawl has no spec that can be used.
func (c *crawl) standsStill() bool { return c.rules != nil && c.rules.Still }

// Wake returns when something is due next without a message.
func (s *Partition) Wake() int64 {
	t := int64(math.MaxInt64)
	for _, c := range s.crawls {
		if c.nextRun > 0 {
			t = min(t, s.time.at(c.nextRun))
		}
	}
	return min(t, s.nextDue, s.nextRetry, s.nextLease)
}
