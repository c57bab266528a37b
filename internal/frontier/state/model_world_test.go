package state

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"seine/internal/base/pebblestate"
	"seine/internal/frontier/table"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// simEnv simulates the environment of a partition, in memory and with its own clock: the streams it
// reads, FETCH, the specs, the budgets, and a disk that can crash. It drives the partition as the
// loop of a frontier does, and tells the model what became durable.
type simEnv struct {
	*rapid.T
	*machine
	model *model

	disk      *vfs.MemFS
	store     *Store
	part      *Partition
	addresses *IPLimiter // of the process
	stays     *IPLimiter // the next owner has the same limiter
	held      *loader    // not collected yet
	epoch     uint64

	specs     map[string]*crawlspec.Spec
	compiled  map[string]*Rules
	changedAt map[string]uint64 // by generation
	gen       uint64
	budgets   map[string]*Budget
	// deletions has the last deletion of each crawl.
	deletions map[string]*messages.Deletion
	// purged are the crawls whose specs are no longer in the bucket. Running stages continue with
	// the spec they know. A stage that starts later uses the defaults, which differ after a
	// deletion: see delete.
	purged   map[string]bool
	defaults map[string]*crawlspec.Spec

	urls, results []message // as stored, from sequence 1
	stored        int       // total of both

	fetch     map[uint64]*messages.Request // in FETCH
	fetchLast uint64
	published []sentRequest       // not recorded by the partition yet
	limbo     []*messages.Request // left FETCH without a result: lost, or very late
	unparsed  []*messages.Request // fetched, but not parsed yet

	snapshots [][]byte // nil stands for the beginning
	inherited map[uint64]*messages.Request
	restored  bool // restored from a snapshot, before the requests in FETCH were taken over
	wrong     bool // a clock was wrong at some time
	moved     bool // it has moved: a former owner's request may have another effect now
}

// message is a message of URLS or of RESULTS.
type message struct {
	stored     int // order of storage
	sequence   uint64
	candidates *messages.Candidates
	result     *messages.Result
}

func (m *message) stream() string {
	if m.result != nil {
		return messages.StreamResults
	}
	return messages.StreamURLs
}

// maxModelHosts is so small that hosts are evicted all the time.
const maxModelHosts = 4

func newSimEnv(t *rapid.T, specs map[string]*crawlspec.Spec) *simEnv {
	r := &simEnv{
		T: t, machine: newMachine(time.Unix(1_800_000_000, 0)), disk: vfs.NewCrashableMem(),
		specs: make(map[string]*crawlspec.Spec), compiled: make(map[string]*Rules), changedAt: make(map[string]uint64),
		budgets: make(map[string]*Budget), deletions: make(map[string]*messages.Deletion), purged: make(map[string]bool), defaults: make(map[string]*crawlspec.Spec), fetch: make(map[uint64]*messages.Request), snapshots: [][]byte{nil},
	}
	r.model = newModel(r)
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		r.change(name, specs[name])
		r.defaults[name] = new(crawlspec.Default())
		r.budgets[name] = &Budget{}
	}
	r.openStore()
	r.openPartition(false)
	return r
}

// at is the partition's time, really the real time, which the model uses.
func (r *simEnv) at() int64     { return r.part.time.now() }
func (r *simEnv) really() int64 { return r.now.UnixNano() }

// Rules and the following methods implement SpecSource.
func (r *simEnv) Rules(crawl string, _ uint64) (*Rules, error) { return r.compiled[crawl], nil }
func (r *simEnv) Generation() uint64                           { return r.gen }
func (r *simEnv) Revision(crawl string) (uint64, bool)         { return r.compiled[crawl].Rev, true }
func (r *simEnv) Seeded(crawl string) bool                     { return len(r.compiled[crawl].Seeds) > 0 }
func (r *simEnv) Deletion(crawl string) *messages.Deletion     { return r.deletions[crawl] }
func (r *simEnv) Known() crawlspec.Progress                    { return crawlspec.Progress{Bucket: 1, Rev: r.gen} }
func (r *simEnv) Changes(uint64) (all []crawlspec.Change) {
	for _, name := range slices.Sorted(maps.Keys(r.changedAt)) {
		all = append(all, crawlspec.Change{Crawl: name, Rev: r.changedAt[name]})
	}
	return all
}

func (r *simEnv) change(name string, spec *crawlspec.Spec) {
	r.must(spec.Validate())
	r.gen++
	compiled, err := compile(crawlspec.Revision{Spec: spec, Rev: r.gen, Time: r.now, Deletion: r.deletions[name]})
	r.must(err)
	r.model.plans.changed(name, r.specs[name], spec, r.now)
	r.specs[name], r.compiled[name], r.changedAt[name] = spec, compiled, r.gen
	delete(r.purged, name)
}

// specInBucket returns the spec on which a change is based.
func (r *simEnv) specInBucket(name string) crawlspec.Spec {
	if r.purged[name] {
		return *r.defaults[name]
	}
	return *r.specs[name]
}

// readSpecs reads the specs like a process that starts.
func (r *simEnv) readSpecs() {
	for _, name := range slices.Sorted(maps.Keys(r.purged)) {
		spec := r.specInBucket(name)
		r.change(name, &spec)
		of := crawlspec.Revision{Spec: &spec, Deletion: r.deletions[name]}
		of.Rev = of.Since()
		compiled, err := compile(of)
		r.must(err)
		r.compiled[name] = compiled
	}
}

// delete deletes a crawl and gives it another spec. The spec stands for the defaults, whose
// revision is also that of the deletion.
func (r *simEnv) delete(name string, spec *crawlspec.Spec) {
	count := uint32(1)
	if d := r.deletions[name]; d != nil {
		count += d.Count
	}
	d := &messages.Deletion{Rev: r.gen + 1, Count: count, Time: r.now, Timeout: messages.Millis(r.specs[name].Timeout)}
	r.model.plans.reopened()
	r.model.deleted(name, time.Duration(d.Timeout))
	r.deletions[name], r.budgets[name], r.defaults[name] = d, &Budget{}, spec
	r.change(name, spec)
}

// ofDeleted reports whether an object made under a revision belongs to a deleted crawl.
func (r *simEnv) ofDeleted(crawl string, rev uint64) bool { return r.compiled[crawl].Deleted(rev) }

func (r *simEnv) must(err error) {
	if err != nil {
		r.Fatalf("%v", err)
	}
}

// openStore opens the store on the disk.
func (r *simEnv) openStore() {
	cache := pebble.NewCache(1 << 20)
	defer cache.Unref()
	o := &pebble.Options{
		FS: r.disk, Cache: cache, MemTableSize: 256 << 10, Logger: pebblestate.Logger("store", slog.New(slog.DiscardHandler)),
		FormatMajorVersion: pebble.FormatColumnarBlocks,
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	o.EnsureDefaults()
	db, err := pebble.Open("", o)
	r.must(err)
	r.store = &Store{ID: "model", db: db, options: o}
}

// openPartition opens the partition. While the filters of known URLs load, all URLs are looked up
// on disk; hold delays the end of loading.
func (r *simEnv) openPartition(hold bool) {
	clock := r.process()
	r.addresses, r.stays = r.stays, nil
	if r.addresses == nil {
		r.addresses = NewIPLimiter(clock.Now)
		r.readSpecs()
	}
	s, err := Open(context.Background(), r.store, Options{
		Epoch: r.epoch, Clock: clock, Specs: r, MaxHosts: maxModelHosts, Addresses: r.addresses, Log: slog.New(slog.DiscardHandler),
	})
	r.must(err)
	r.part, r.held = s, s.crawls.loader
	if hold {
		ctx, cancel := context.WithCancel(context.Background())
		s.crawls.loader = &loader{ctx: ctx, cancel: cancel, loaded: make(chan *loadedCrawl)}
		return
	}
	r.loaded()
}

// loaded completes the loading of the filters.
func (r *simEnv) loaded() {
	if r.held != nil {
		if r.part.crawls.loader != r.held {
			r.part.crawls.loader.stop()
		}
		awaitLoaded(r.held, r.part.crawls)
		r.part.crawls.loader, r.held = r.held, nil
	}
}

func (r *simEnv) close() {
	r.kill()
	_ = r.store.Close()
}

// kill ends the process: uncommitted changes are lost.
func (r *simEnv) kill() {
	if r.held != nil {
		r.held.stop()
		r.held = nil
	}
	r.part.Close()
	r.published = nil
}

// crash ends the process, perhaps with the machine, which loses unsynced data, and restarts it.
func (r *simEnv) crash(machine, hold bool) {
	r.kill()
	if machine {
		r.boot()
		disk := r.disk.CrashClone(vfs.CrashCloneCfg{})
		_ = r.store.Close()
		r.disk = disk
		r.openStore()
	}
	r.start(hold)
}

// start runs a partition up to its first turn.
func (r *simEnv) start(hold bool) {
	r.epoch++
	r.openPartition(hold)
	r.model.opened(r.restored)
}

// move lets another store take over the partition with a snapshot.
func (r *simEnv) move(snapshot []byte, hold bool) {
	r.kill()
	_ = r.store.Close()
	r.boot() // it is another machine
	r.disk = vfs.NewCrashableMem()
	r.openStore()
	if snapshot != nil {
		f, err := r.disk.Create("incoming", vfs.WriteCategoryUnspecified)
		r.must(err)
		_, err = f.Write(bytes.Clone(snapshot)) // a clone, as it may be modified
		r.must(errors.Join(err, f.Sync(), f.Close()))
		_, err = r.store.db.IngestAndExcise(context.Background(), []string{"incoming"}, nil, nil,
			pebble.KeyRange{Start: table.Partition(0), End: table.Partition(1)})
		r.must(err)
	}
	r.inherited = make(map[uint64]*messages.Request)
	for seq, req := range r.fetch {
		r.inherited[seq] = req
	}
	r.restored = true
	r.moved = true
	r.model.plans.reopened()
	r.model.handedOver()
	r.start(hold)
}

// snapshot stores the state at the end of a turn.
func (r *simEnv) snapshot() {
	v := r.store.View(0)
	defer v.Close()
	var b bytes.Buffer
	r.must(v.Write(&b))
	r.snapshots = append(r.snapshots, b.Bytes())
}

// feed stores a message on URLS, by default with the current revision.
func (r *simEnv) feed(m *messages.Candidates) {
	m.Rev = cmp.Or(m.Rev, r.compiled[m.Crawl].Rev)
	r.stored++
	r.urls = append(r.urls, message{stored: r.stored, sequence: uint64(len(r.urls) + 1), candidates: m})
}

// report stores a message on RESULTS.
func (r *simEnv) report(m *messages.Result) {
	r.stored++
	r.results = append(r.results, message{stored: r.stored, sequence: uint64(len(r.results) + 1), result: m})
}

// unread returns the messages of a stream after the durable position.
func (r *simEnv) unread(stream string) []message {
	all := r.urls
	if stream == messages.StreamResults {
		all = r.results
	}
	return all[r.part.positions[stream].Sequence:]
}

// turn describes the actions of the partition between two commits.
type turn struct {
	urls, results int  // maximum numbers of applied messages
	resultsFirst  bool // otherwise URLs first
	room          int  // maximum number of requests to send
	publish       int  // number of requests published before the process dies, if it does
	end           ending
}

// ending is how a turn ends.
type ending int

const (
	whole          ending = iota
	beforeCommit          // the process dies
	beforePublish         // after the commit
	whilePublishes        // after some were published, before any was recorded
	beforeNotes           // after all were published, before any was recorded
)

// play plays a turn like partition.turn, and returns whether the process survives.
func (r *simEnv) play(t turn) bool {
	s, now := r.part, r.at()
	for _, o := range r.published {
		s.Requests.MarkSent(o.wire, o.seq)
	}
	r.published = nil
	r.grant()
	r.must(s.RunTimers(now))
	streams := []string{messages.StreamURLs, messages.StreamResults}
	counts := []int{t.urls, t.results}
	if t.resultsFirst {
		slices.Reverse(streams)
		slices.Reverse(counts)
	}
	done := &step{now: r.really()}
	for i, stream := range streams {
		unread := r.unread(stream)
		for _, m := range unread[:min(counts[i], len(unread))] {
			r.apply(&m, done)
		}
	}
	now = r.at()
	again, err := r.lost(now)
	r.must(err)
	fresh, err := s.Dispatcher.Next(now, FetchCapacity{t.room, t.room})
	r.must(err)
	if t.end == beforeCommit {
		return false
	}
	out := r.outgoing(append(slices.Clone(again), fresh...))
	done.send(again, fresh)
	r.commit(done)
	r.feedSeeds(t)
	if t.end == beforePublish {
		return false
	}
	if t.end == whilePublishes {
		out = out[:min(t.publish, len(out))]
	}
	r.publish(out)
	return t.end == whole
}

// sentRequest is a request on its way to FETCH, and later its sequence there.
type sentRequest struct {
	id   urlID
	wire *messages.Request
	seq  uint64
}

// outgoing returns the messages of requests as they are at the end of the turn.
func (r *simEnv) outgoing(reqs []*Request) (out []sentRequest) {
	for _, req := range reqs {
		wire, err := r.part.Requests.Message(req)
		r.must(err)
		out = append(out, sentRequest{id: req.id, wire: wire})
	}
	return out
}

// apply applies a message to the partition, durable with the next commit: partition.applyPart.
func (r *simEnv) apply(m *message, done *step) {
	if m.result != nil {
		r.forgetDeleted(m.result.Crawl, m.result.Rev, done)
		before := r.attempts(m.result.Crawl)
		r.must(r.part.ApplyResult(m.result, r.at()))
		done.applied = append(done.applied, applied{m, r.attempts(m.result.Crawl) > before})
	} else {
		r.forgetDeleted(m.candidates.Crawl, m.candidates.Rev, done)
		before := r.parsed(m.candidates)
		r.applyCandidates(m.candidates)
		done.applied = append(done.applied, applied{m, r.parsed(m.candidates) > before})
	}
	done.reached = append(done.reached, m)
}

// forgetDeleted is partition.forgetDeleted.
func (r *simEnv) forgetDeleted(crawl string, rev uint64, done *step) {
	commit, err := r.part.Removals.Begin(crawl, rev, r.at())
	r.must(err)
	if commit {
		r.commit(done)
		*done = step{now: done.now}
	}
}

func (r *simEnv) applyCandidates(m *messages.Candidates) {
	bad, err := r.part.ApplyCandidates(m, 1, r.at())
	r.must(err)
	want := countBad(m)
	if r.ofDeleted(m.Crawl, m.Rev) {
		want = 0
	}
	if len(bad) != want {
		r.Fatalf("%d URLs were not taken: %v, want %d", len(bad), bad, want)
	}
}

// attempts returns how many results count.
func (r *simEnv) attempts(crawl string) (n int64) {
	if r.model.doomed(crawl) {
		return 0
	}
	state, err := r.part.crawls.stateOf(crawl)
	r.must(err)
	for _, k := range state.Attempts {
		n += k
	}
	return n
}

// parsed returns the last round of a page whose end is known.
func (r *simEnv) parsed(m *messages.Candidates) uint64 {
	if m == nil || m.Ends.IsZero() || r.model.doomed(m.Crawl) {
		return 0
	}
	page, err := r.part.urls.record(urlID{m.Crawl, m.Ends.URL})
	r.must(err)
	if page == nil {
		return 0
	}
	return page.Parsed
}

// notURL is an invalid candidate.
const notURL = "mailto:nobody@a.test"

func countBad(m *messages.Candidates) (n int) {
	for _, c := range m.URLs {
		if c.URL == notURL {
			n++
		}
	}
	return n
}

// commit ends a turn and acknowledges its messages.
func (r *simEnv) commit(done *step) {
	for _, m := range done.reached {
		r.part.SetPosition(m.stream(), messages.Position{Sequence: m.sequence})
	}
	r.must(r.part.Commit(r.at()))
	r.model.committed(done)
}

// publish adds requests to FETCH, which deduplicates them.
func (r *simEnv) publish(out []sentRequest) {
	for _, o := range out {
		o.seq = 0
		for seq, req := range r.fetch {
			if req.ID() == o.wire.ID() {
				o.seq = seq
			}
		}
		if o.seq == 0 {
			r.fetchLast++
			o.seq = r.fetchLast
			r.fetch[o.seq] = o.wire
		}
		r.model.published(o.wire)
		r.published = append(r.published, o)
	}
}

// catchUp replays the messages of the streams beyond the state, in turns of perTurn messages, and
// then resumes with the in-flight requests: partition.replay. It dies after dieAfter turns unless
// that is negative, and returns whether it survives.
func (r *simEnv) catchUp(perTurn, dieAfter int) bool {
	unread := append(slices.Clone(r.unread(messages.StreamURLs)), r.unread(messages.StreamResults)...)
	sort.Slice(unread, func(i, j int) bool { return unread[i].stored < unread[j].stored })
	for chunk := range slices.Chunk(unread, perTurn) {
		done := &step{now: r.really()}
		for i := range chunk {
			r.apply(&chunk[i], done)
		}
		if dieAfter == 0 {
			return false
		}
		dieAfter--
		r.commit(done)
	}
	r.resume()
	return true
}

// resume continues with the in-flight requests.
func (r *simEnv) resume() {
	r.must(r.part.Resume(r.inherited, r.at()))
	r.model.resumed(r.restored)
	r.inherited, r.restored = nil, false
	r.model.check()
}

// lost returns the requests that are no longer in FETCH.
func (r *simEnv) lost(now int64) ([]*Request, error) {
	return r.part.Requests.Lost(now, func(seq uint64) (string, error) {
		req := r.fetch[seq]
		if req == nil {
			return "", nil
		}
		return req.ID(), nil
	})
}

// grant gives the crawls more of their budgets.
func (r *simEnv) grant() {
	for _, ask := range r.part.Budgets.Due() {
		doc := r.budgets[ask.Crawl]
		doc.StartedMS = max(doc.StartedMS, 1)
		r.part.Budgets.Apply(&BudgetAnswer{BudgetRequest: ask, Grant: doc.Allot("0", ask.Used, ask.More, 1, ask.Spec.Spec)})
	}
}

func (r *simEnv) describe(id urlID) string {
	p := r.model.known[id]
	if p == nil {
		return fmt.Sprintf("%s of %s", id.hash, id.crawl)
	}
	return fmt.Sprintf("%s of %s", p.url, id.crawl)
}
