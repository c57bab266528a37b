package state

import (
	"context"
	"errors"
	"log/slog"
	"math"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/frontier/table"
)

// Partition is the state of one partition and what may happen to it. It knows no
// NATS: a partition loop gives it that, and so does a test. Its methods change the
// turn under way; Commit ends it. What they call now is its own time: see partitionTime.
type Partition struct {
	store     *Store
	partition int
	// partitions is how many there are.
	partitions int
	epoch      uint64
	era        func() uint64
	time       *partitionTime
	tx         *tx
	specs      SpecSource
	log        *slog.Logger
	offline    bool // see Options

	positions            map[string]messages.Position
	crawls               map[string]*crawl
	stale                []string           // crawls that have ended and are to be woken: see recheckStale
	isStale              map[string]bool    // the same
	stored               judged             // as the store has it
	judged               judged             // as it is stored
	lookedAt             crawlspec.Progress // up to where changed specs were looked at: see findStale
	gone                 map[string]bool    // crawls that were removed in this turn: the store shows them until its end
	holdsCrawls          bool               // there is, or was, a crawl
	hosts                map[string]*host   // the active window
	domains              map[string]*domain
	maxHosts             int
	touched              []*host
	touchedDomains       []*domain
	ready                []*host       // due, in the order of their turn
	windows              int           // queues with a window in memory
	changedQueues        []*crawlQueue // in the turn under way
	inFlight             map[urlID]*Request
	renders              int // of those under way, the ones whose pages may need a browser
	renderLine           renderLine
	addresses            *IPLimiter
	arrival              uint64
	replaying            bool   // the state is behind the streams
	nextInFlightDeadline int64  // no request under way is to be looked for before: see lost
	nextDue              int64  // no entry of the due index is before
	nextRetry            int64  // nor of the retry index
	nextForget           int64  // nor of the index of hosts to forget, as politeness counts time
	specsGen             uint64 // grows when a spec has changed
	loader               *loader
	recent               *recentLinks
	recentFailures       failureRing
	spacing              spacing
	emptied              []emptied
	loggedRepairs        map[string]bool // kinds of faults of the store that were logged: see reportRepair
	suspects             map[string]bool // crawls of which something was wrong in this turn: see audit
	suspectAll           bool            // all are
	postponed            map[string]int  // messages that wait, by crawl
	lastPostponed        uint64
	seeds                []*messages.Candidates // of specs, to be published
	parsingAt            int64                  // when CountParsing was called last
	removed              int                    // deleted crawls that were forgotten, and may be in the last snapshot
}

// Options are what a partition is opened with.
type Options struct {
	Partition int
	// Partitions is how many there are, 0 is one.
	Partitions int
	Epoch      uint64        // of the lease
	Era        func() uint64 // of the cluster: see messages.KeyEra; nil is 0
	Clock      *Clock
	Specs      SpecSource
	MaxHosts   int   // in memory
	Recent     int64 // bytes for URLs seen lately
	Offline    bool  // questions are answered, and nothing is begun
	Replaying  bool  // the state is behind the streams, until Resume
	Addresses  *IPLimiter
	Log        *slog.Logger
}

// Open reads what must be in memory of a partition. The filters of known
// URLs are filled while it already works.
func Open(ctx context.Context, store *Store, o Options) (*Partition, error) {
	s := &Partition{
		store: store, partition: o.Partition, partitions: max(1, o.Partitions), epoch: o.Epoch, era: o.Era, tx: newTx(store, o.Partition), specs: o.Specs, log: o.Log, offline: o.Offline,
		crawls: make(map[string]*crawl), isStale: make(map[string]bool), gone: make(map[string]bool), postponed: make(map[string]int),
		hosts: make(map[string]*host), domains: make(map[string]*domain), maxHosts: o.MaxHosts, inFlight: make(map[urlID]*Request),
		addresses: o.Addresses, replaying: o.Replaying, nextInFlightDeadline: math.MaxInt64, recent: newRecentLinks(o.Recent), loggedRepairs: make(map[string]bool), suspects: make(map[string]bool),
	}
	if s.era == nil {
		s.era = func() uint64 { return 0 }
	}
	o.Addresses.arrived()
	loadCrawls := func() error { return s.loadCrawls(o.Clock) }
	for _, load := range []func() error{s.loadPositions, loadCrawls, s.loadInFlight, s.checkInFlight, s.loadPostponed, s.loadUnsaved} {
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
	unsaved, err := s.store.has(table.Prefix(s.partition, kindUnsaved))
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
	s.tx.Close()
	for _, req := range s.inFlight {
		s.addresses.end(req.ip)
	}
}

// record returns what is known of a URL, nil if that is nothing.
func (s *Partition) record(id urlID) (*urlRecord, error) {
	if req := s.inFlight[id]; req != nil {
		return req.urlRecord, nil
	}
	r, err := s.tx.load(id)
	if errors.Is(err, errRecord) {
		return nil, s.unreadable(id, err)
	}
	return r, err
}

// TurnBytes is how much of messages one turn applies, about.
const TurnBytes = 512 << 10

// Now is the partition's time, Unix ns: see partitionTime.
func (s *Partition) Now() int64 { return s.time.now() }

// Positions are up to where the streams are applied. The caller must not change them.
func (s *Partition) Positions() map[string]messages.Position { return s.positions }

// Taken is how many requests are in progress.
func (s *Partition) Taken() Room { return Room{Requests: len(s.inFlight), Renders: s.renders} }

// HasDue reports whether a host may be asked now.
func (s *Partition) HasDue(now int64) bool { return len(s.ready) > 0 || s.nextDue <= now }

// HasPostponed reports whether messages wait for the removal of a deleted crawl.
func (s *Partition) HasPostponed() bool { return len(s.postponed) > 0 }

// Replaying reports whether the state is behind the streams, until Resume.
func (s *Partition) Replaying() bool { return s.replaying }

// RemovedCrawls counts the deleted crawls that were removed since the store was opened, and
// those before whose removal no snapshot has.
func (s *Partition) RemovedCrawls() int { return s.removed }
