package stages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/sleep"
	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Specs holds the spec of every crawl, as stored in BucketCrawls, and follows its changes. A crawl
// without a spec has the default one at revision 0.
type Specs struct {
	Deletions SpecDeletions
	Expiry    SpecExpiry
	History   SpecHistory

	bus *Bus
	kv  jetstream.KeyValue

	decoded specTexts

	mu         sync.RWMutex
	byCrawl    map[string]storedSpec
	deletions  map[string]*messages.Deletion
	ignored    map[string]uint64 // unusable revisions that were logged, by crawl
	lost       map[string]uint64 // revisions of specs that the bucket has lost, by crawl
	watched    crawlspec.Progress
	news       specNews
	generation atomic.Uint64

	allRead  chan struct{}
	readOnce sync.Once
}

// Revision returns the known revision of a crawl's spec, and whether one is known.
func (s *Specs) Revision(crawl string) (rev uint64, known bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.byCrawl[crawl]
	return r.rev, ok
}

// Deletion returns the last known deletion of a crawl; nil if there is none.
func (s *Specs) Deletion(crawl string) *messages.Deletion {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.deletions[crawl]
}

// OpenSpecs opens the bucket of specs. It does not follow changes.
func OpenSpecs(ctx context.Context, b *Bus) (*Specs, error) {
	kv, err := b.JS.KeyValue(ctx, messages.BucketCrawls)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", messages.BucketCrawls, err)
	}
	return newSpecs(b, kv), nil
}

// SpecOf reads the current spec of a crawl.
func SpecOf(ctx context.Context, b *Bus, crawl string) (crawlspec.Revision, error) {
	specs, err := OpenSpecs(ctx, b)
	if err != nil {
		return crawlspec.Revision{}, err
	}
	return specs.Get(ctx, crawl, 0)
}

func newSpecs(b *Bus, kv jetstream.KeyValue) *Specs {
	s := &Specs{
		bus: b, kv: kv, byCrawl: make(map[string]storedSpec), deletions: make(map[string]*messages.Deletion),
		ignored: make(map[string]uint64), lost: make(map[string]uint64), allRead: make(chan struct{}),
	}
	s.Deletions, s.Expiry, s.History = SpecDeletions{s}, SpecExpiry{s}, SpecHistory{s}
	return s
}

// FollowSpecs opens the specs for a stage and follows them until stop is called.
func FollowSpecs(ctx context.Context, b *Bus) (specs *Specs, stop func(), err error) {
	kv, err := b.Bucket(ctx, messages.BucketCrawls)
	if err != nil {
		return nil, nil, err
	}
	specs = newSpecs(b, kv)
	// A stage needs its specs until it has drained, which is after ctx is done.
	following, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { _ = specs.Run(following, nil) })
	return specs, func() { cancel(); wg.Wait() }, nil
}

// Run follows changes until ctx is done. changed, if set, is called with the name of the crawl
// after each change.
func (s *Specs) Run(ctx context.Context, changed func(crawl string)) error {
	for ctx.Err() == nil {
		if err := s.follow(ctx, changed); err != nil && ctx.Err() == nil {
			s.bus.Log.Debug("cannot follow specs", "error", err)
			_ = sleep.For(ctx, time.Second)
		}
	}
	return nil
}

// AllRead waits until Run has read everything that was stored when it began.
func (s *Specs) AllRead(ctx context.Context) error {
	select {
	case <-s.allRead:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bucketEvery is how often follow checks that the bucket was not re-created: the watch of a removed
// bucket reports nothing.
const bucketEvery = 5 * time.Second

// follow watches the bucket over one connection: a restarted broker forgets the watch, which the
// client notices only after many seconds.
func (s *Specs) follow(ctx context.Context, changed func(string)) error {
	ctx, cancel := s.bus.UntilReconnected(ctx)
	defer cancel()
	bucket, err := s.bus.JS.Stream(ctx, "KV_"+messages.BucketCrawls)
	if err != nil {
		return err
	}
	s.follows(bucket.CachedInfo().Created)
	w, err := s.kv.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	look := time.NewTicker(bucketEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			if now, err := s.bus.JS.Stream(ctx, "KV_"+messages.BucketCrawls); err == nil && !now.CachedInfo().Created.Equal(bucket.CachedInfo().Created) {
				return errors.New("the bucket was re-created")
			}
		case e, ok := <-w.Updates():
			if !ok {
				return errors.New("watch ended")
			}
			if e == nil { // all existing entries have been sent
				s.readOnce.Do(func() { close(s.allRead) })
				continue
			}
			news := e.Operation() == jetstream.KeyValuePut && !messages.IsFed(e.Key()) && s.store(e)
			s.reached(e.Revision())
			if news && changed != nil {
				changed(crawlOfKey(e.Key()))
			}
		}
	}
}

// crawlOfKey returns the crawl that a key belongs to.
func crawlOfKey(key string) string {
	if crawl, ok := messages.CrawlOfDeletion(key); ok {
		return crawl
	}
	return key
}

// store keeps the spec or deletion in e if it is newer than the known one.
func (s *Specs) store(e jetstream.KeyValueEntry) bool {
	if crawl, ok := messages.CrawlOfDeletion(e.Key()); ok {
		return s.Deletions.store(crawl, e.Value(), e.Revision())
	}
	if err := messages.CheckCrawl(e.Key()); err != nil {
		s.Ignore(e.Key(), e.Revision(), err)
	}
	r, err := s.decoded.stored(e.Value(), e.Revision(), e.Created())
	if err != nil {
		s.Ignore(e.Key(), e.Revision(), err)
		return s.keepUnusable(e.Key(), r)
	}
	return s.keep(e.Key(), r)
}

func (s *Specs) keep(crawl string, r storedSpec) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byCrawl[crawl].rev >= r.rev {
		return false
	}
	if d := s.deletions[crawl]; d != nil && r.rev < d.Rev {
		return false
	}
	s.byCrawl[crawl] = r
	delete(s.lost, crawl)
	s.changed(crawl, r.rev)
	return true
}

// Change applies change to the spec of a crawl, or to the default, and returns the new revision. It
// uses the newest spec, and retries if another process was faster. If the key was deleted, it
// changes the spec that the stages still use: the newest one before.
func (s *Specs) Change(ctx context.Context, crawl string, change func(*crawlspec.Spec) error) (uint64, error) {
	var stored uint64
	err := jsclient.RetryConflicts(ctx, func() (err error) {
		stored, err = s.change(ctx, crawl, change)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("change spec of crawl %s: %w", crawl, err)
	}
	return stored, nil
}

func (s *Specs) change(ctx context.Context, crawl string, change func(*crawlspec.Spec) error) (uint64, error) {
	spec, rev, err := s.current(ctx, crawl)
	if err == nil {
		err = change(spec)
	}
	if err != nil {
		return 0, err
	}
	return jsclient.Swap(ctx, s.kv, crawl, spec.Encode(), rev)
}

// current returns the spec of a crawl to change, and the revision of its key, 0 if it has none. A
// spec that cannot be read is an error: it may be of a newer build.
func (s *Specs) current(ctx context.Context, crawl string) (*crawlspec.Spec, uint64, error) {
	since, err := s.Deletions.at(ctx, crawl)
	if err != nil {
		return nil, 0, err
	}
	text, rev, err := s.bus.ReadKey(ctx, messages.BucketCrawls, crawl)
	if err != nil {
		return nil, 0, err
	}
	if rev > since {
		spec, err := crawlspec.Decode(text)
		return spec, rev, err
	}
	// The existing spec may belong to a crawl that was deleted.
	before, ok, err := s.usable(ctx, crawl)
	if err != nil {
		return nil, rev, err
	}
	if ok && !before.still() && before.rev > since { // decoded again: the copy will be changed
		spec, err := crawlspec.Decode([]byte(before.text.Value()))
		return spec, rev, err
	}
	s.mu.RLock()
	lost := s.lost[crawl]
	s.mu.RUnlock()
	if lost > since { // the default must not replace the lost spec
		return nil, rev, fmt.Errorf("%w: %w", crawlspec.ErrStandsStill, lostSpec(lost))
	}
	spec := crawlspec.Default()
	return &spec, rev, nil
}

// Get returns the newest spec of a crawl, at least of revision rev: a message may arrive before the
// update of the spec that it was made under. It waits for an unavailable server, which is not the
// message's fault. It asks the leader: a replica that is cut off may not have the newest spec. If
// the bucket had a spec of the crawl at revision rev and has none now, the crawl is stalled.
func (s *Specs) Get(ctx context.Context, crawl string, rev uint64) (crawlspec.Revision, error) {
	for wait := jsclient.MinRefusedWait; ; wait = min(2*wait, jsclient.MaxRefusedWait) {
		if r, ok := s.known(crawl); ok && r.Rev >= rev {
			return r, nil
		}
		err := s.readUncached(ctx, crawl)
		if err == nil {
			err = s.Deletions.read(ctx, crawl)
		}
		if err == nil {
			return s.unlessLost(crawl, s.knownOrDefault(crawl), rev), nil
		}
		if sleep.For(ctx, wait) != nil {
			return crawlspec.Revision{}, fmt.Errorf("read spec of crawl %s: %w", crawl, cmp.Or(err, ctx.Err()))
		}
	}
}

// GetSure returns the current spec of a crawl: every spec and deletion stored before the call is
// known. It asks the leader each time, and returns an error if the leader is unreachable.
func (s *Specs) GetSure(ctx context.Context, crawl string) (crawlspec.Revision, error) {
	err := s.readUncached(ctx, crawl)
	if err == nil {
		err = s.Deletions.ask(ctx, crawl)
	}
	if err != nil {
		return crawlspec.Revision{}, fmt.Errorf("read spec of crawl %s: %w", crawl, err)
	}
	return s.knownOrDefault(crawl), nil
}

func (s *Specs) known(crawl string) (crawlspec.Revision, bool) {
	s.mu.RLock()
	r, ok := s.byCrawl[crawl]
	d := s.deletions[crawl]
	s.mu.RUnlock()
	if !ok {
		return crawlspec.Revision{Deletion: d}, false
	}
	return s.decoded.revised(r, d), true
}

// knownOrDefault returns the spec of a crawl whose stored spec and deletion are all known.
func (s *Specs) knownOrDefault(crawl string) crawlspec.Revision {
	s.mu.Lock()
	r := s.byCrawl[crawl]
	s.byCrawl[crawl] = r
	d := s.deletions[crawl]
	s.mu.Unlock()
	return s.decoded.revised(r, d)
}

// readUncached asks the leader for the spec of a crawl. If it returns no error, the known spec is
// the newest.
func (s *Specs) readUncached(ctx context.Context, crawl string) error {
	r, ok, err := s.usable(ctx, crawl)
	if ok {
		s.keep(crawl, r)
	}
	return err
}

// usable returns the newest usable spec of a crawl, false if none is stored: neither a faulty spec
// nor a deleted key stops a crawl. If none of the stored specs is usable, the crawl is stalled.
func (s *Specs) usable(ctx context.Context, crawl string) (storedSpec, bool, error) {
	subject := "$KV." + messages.BucketCrawls + "." + crawl
	m, err := s.bus.ReadFromLeader(ctx, "KV_"+messages.BucketCrawls, jsclient.Lookup{Last: subject})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return storedSpec{}, false, nil
	}
	if err != nil {
		return storedSpec{}, false, err
	}
	var good storedSpec
	found := false
	bad, is := s.decode(crawl, m)
	if is && !bad.still() {
		return bad, true, nil
	}
	// Earlier revisions: a bucket keeps few of each key.
	for before, err := range s.bus.EachFromLeader(ctx, "KV_"+messages.BucketCrawls, subject, 1) {
		if err != nil {
			return storedSpec{}, false, err
		}
		if before.Seq >= m.Seq {
			break
		}
		switch r, is := s.decode(crawl, before); {
		case is && r.still() && r.rev > bad.rev:
			bad = r
		case is && !r.still():
			good, found = r, true
		}
	}
	if !found {
		return bad, bad.still(), nil
	}
	if bad.rev > good.rev {
		good.trouble = &specTrouble{why: bad.trouble.why}
	}
	return good, true, nil
}

// decode returns the spec in a message, false if the message marks a deletion. An unusable spec
// becomes that of a stalled crawl.
func (s *Specs) decode(crawl string, m *jsclient.StoredMessage) (storedSpec, bool) {
	if m.Deletes() {
		return storedSpec{}, false
	}
	r, err := s.decoded.stored(m.Data, m.Seq, m.Time)
	if err != nil {
		s.Ignore(crawl, m.Seq, err)
	}
	return r, true
}

// Put stores the spec of a crawl, unless it is unchanged, and returns its revision.
func (s *Specs) Put(ctx context.Context, crawl string, spec *crawlspec.Spec) (uint64, error) {
	text := spec.Encode()
	if err := crawlspec.CheckSize(text); err != nil {
		return 0, fmt.Errorf("store spec of crawl %s: %w", crawl, err)
	}
	since, err := s.Deletions.at(ctx, crawl)
	if err != nil {
		return 0, err
	}
	if have, rev, err := s.bus.ReadKey(ctx, messages.BucketCrawls, crawl); err == nil && rev > since && string(have) == string(text) {
		return rev, nil
	}
	rev, err := s.kv.Put(ctx, crawl, text)
	if err != nil {
		return 0, fmt.Errorf("store spec of crawl %s: %w", crawl, err)
	}
	return rev, nil
}
