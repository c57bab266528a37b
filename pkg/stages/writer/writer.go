package writer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/installation"
	"seine/internal/base/sleep"
	"seine/internal/output"
	"seine/internal/streams/jsclient"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Writer writes the records of the partitions that it owns.
type Writer struct {
	cfg  Config
	bus  *stages.Bus
	log  *slog.Logger
	from inputStream
	form *fileLayout
	// slowAge is the age of chunks of a slow stream.
	slowAge time.Duration
	pub     *stages.Publisher
	hook    output.Hook
	// Back-off after a failure.
	minWait, maxWait time.Duration
	manifestEvery    time.Duration
	lagEvery         time.Duration

	sink    output.Sink
	binding output.Binding // of the name to this destination
	index   *index
	open    atomic.Int64 // chunks being written, of all partitions
	// columnsOf is nil for a format without columns.
	columnsOf columnsFunc
	// entered is closed once this process has exclusive access to the output.
	entered  chan struct{}
	entering sync.Once
	// inexact are the crawls for which noteExactness has logged.
	inexact sync.Map

	mu             sync.Mutex
	handled        map[int]messages.Position  // by owned partition: position of the reader
	partitionErr   map[int]error              // by partition: why it is waiting
	committedAt    map[int]messages.Position  // by partition: end of the last known commit
	troubleSince   time.Time                  // since when any of them waits
	ixErr          error                      // why the index is waiting
	lagging        error                      // set while the writer slows down the crawl
	flushSignals   map[int]chan chan struct{} // by partition that is read: to finish its files
	place          interface{ Waiting() string }
	totals         Totals
	staleManifests map[string]bool // crawls whose manifests are older than their commits
	complete       map[string]bool // crawls that have ended, with all records read
}

// Totals counts the commits of a Writer.
type Totals struct {
	Records  int64 // in committed files
	Files    int64
	Bytes    int64 // of committed files
	RawBytes int64 // of the records in them, before compression
	Repeats  int64 // repeated records that were dropped
	Bad      int64 // invalid messages that went to DEAD
}

// Waiting names the views of a database that cannot be updated while records are written, and why; "" means all are up to date.
func (w *Writer) Waiting() string {
	w.mu.Lock()
	place := w.place
	w.mu.Unlock()
	if place == nil {
		return ""
	}
	return place.Waiting()
}

// New returns a writer, which does nothing before Run.
func New(cfg Config, bus *stages.Bus) (*Writer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	byPace := cfg.ChunkAge == 0 && !IsDatabase(cfg.Out)
	cfg = cfg.withDefaults()
	w := &Writer{
		cfg: cfg, bus: bus, log: bus.Log.With("writer", cfg.Name),
		from: sources[cfg.From], minWait: time.Second, maxWait: 30 * time.Second, manifestEvery: manifestEvery,
		entered: make(chan struct{}), lagEvery: lagEvery, flushSignals: make(map[int]chan chan struct{}),
		handled: make(map[int]messages.Position), partitionErr: make(map[int]error), committedAt: make(map[int]messages.Position), staleManifests: make(map[string]bool), complete: make(map[string]bool),
	}
	var err error
	if w.form, err = newFileLayout(&cfg.OutputConfig, (specColumns{w}).of); err != nil {
		return nil, err
	}
	w.slowAge = time.Duration(cfg.ChunkAge)
	if byPace && w.form.body == nil {
		w.slowAge = maxAge
	}
	begin(cfg.Name)
	return w, nil
}

// Run writes until ctx is done; then it commits the open sets and returns. The error then describes
// what could not be committed, which the stream still holds. It returns early when the output or
// the state directory cannot be used, or the commit log is damaged or of another number of
// partitions.
func (w *Writer) Run(ctx context.Context) error {
	lists, unfollow, err := w.prepare(ctx)
	if err != nil {
		return err
	}
	defer unfollow()
	ctx, unbound := context.WithCancelCause(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() { lagWatch{w}.run(ctx, unbound) })
	defer watcher.Wait()
	defer unbound(nil)
	late, cancel := doneAfter(ctx, time.Duration(w.cfg.Drain))
	defer cancel()
	// If a long log takes longer to list than the remaining time, it is not listed.
	soon, giveUp := doneAfter(ctx, time.Duration(w.cfg.Drain)/2)
	defer giveUp()
	done := make(chan error, 1)
	go func() { done <- w.runPartitions(ctx, lists, soon) }()
	select {
	case err = <-done:
	case <-late.Done():
		// The disk hangs. Goroutines may still use the index, so it must not be closed.
		return fmt.Errorf("write records: not done %s after the signal: uncommitted records remain in the stream", w.cfg.Drain)
	}
	if err != nil {
		err = fmt.Errorf("write records: %w", err)
	}
	cause := context.Cause(ctx)
	if _, elsewhere := errors.AsType[*BoundError](cause); elsewhere || errors.Is(cause, installation.ErrOther) {
		err = errors.Join(cause, err)
	}
	return errors.Join(err, w.Err(), w.index.Close(), closeSink(w.sink))
}

// runPartitions writes the partitions that this writer owns, and keeps the manifests until it no
// longer owns any, or soon is done.
func (w *Writer) runPartitions(ctx context.Context, lists *manifests, soon context.Context) error {
	leases := partition.Leases{
		Bus: w.bus, Group: "writer-" + w.cfg.Name, Owner: w.index.ID, Partitions: w.bus.Layout.Partitions,
		Fair: true, Log: w.log,
		RunPartition: func(own context.Context, p int, _ uint64) error {
			defer w.leave(ctx, p)
			return w.own(own, p)
		},
	}
	owning, released := context.WithCancel(context.WithoutCancel(ctx))
	var listing sync.WaitGroup
	listing.Go(func() { lists.keep(owning, soon) })
	defer listing.Wait()
	defer released()
	return leases.Run(ctx)
}

// prepare opens the resources of a run, or none after an error. The keeper of the manifests closes
// them, Run closes the others.
func (w *Writer) prepare(ctx context.Context) (lists *manifests, unfollow func(), err error) {
	if err := installation.Check(w.cfg.State, w.bus.Installation(), w.cfg.Adopt); err != nil {
		return nil, nil, err
	}
	if err := w.cfg.CheckBinding(ctx, w.bus); err != nil {
		return nil, nil, err
	}
	if w.sink, err = openSink(&w.cfg, w.log, w.hook); err != nil {
		return nil, nil, err
	}
	w.mu.Lock()
	w.place, _ = w.sink.(interface{ Waiting() string })
	w.mu.Unlock()
	if w.index, err = openIndex(w.cfg.State, w.log, w.indexTrouble); err != nil {
		return nil, nil, errors.Join(err, closeSink(w.sink))
	}
	if err = installation.Bind(w.cfg.State, w.bus.Installation(), w.cfg.Adopt); err == nil {
		err = binder{w}.bind(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(err, w.index.Close(), closeSink(w.sink))
	}
	if lists, err = w.openManifests(); err != nil {
		return nil, nil, errors.Join(err, w.index.Close(), closeSink(w.sink))
	}
	if unfollow, err = (specColumns{w}).follow(ctx, lists); err != nil {
		return nil, nil, errors.Join(err, lists.close(), w.index.Close(), closeSink(w.sink))
	}
	w.pub = stages.NewPublisher(w.bus, messages.StageWriter)
	return lists, unfollow, nil
}

// doneAfter returns a context that is done d after ctx is.
func doneAfter(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = sleep.For(late, d)
		cancel()
	})
	return late, func() { stop(); cancel() }
}

// own writes partition p until ctx is done. After a failure it waits, and restarts from the last
// commit.
func (w *Writer) own(ctx context.Context, p int) error {
	for wait := w.minWait; ; wait = min(2*wait, w.maxWait) {
		committed, err := w.write(ctx, p, nil)
		for range takenTries {
			if !errors.Is(err, output.ErrExists) {
				break
			}
			w.log.Info("another process has taken the name of the commit; restarting from the last commit", "partition", p, "error", err)
			committed, err = w.writeAgain(ctx, p)
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, output.ErrCorrupt), errors.Is(err, errPartitions):
			return err
		case committed, errors.Is(err, errStreamRecreated):
			wait = w.minWait
		}
		w.fail(p, err)
		if ctx.Err() != nil {
			w.log.Error("records were not committed and remain in the stream", "partition", p, "error", err)
			return nil
		}
		w.log.Warn("cannot write; restarting from the last commit", "partition", p, "wait", wait, "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// takenTries bounds the attempts when a commit finds its name taken although the log did not have
// it. againTime bounds the final retry of uncommitted records when the writer stops.
const (
	takenTries = 3
	againTime  = time.Minute
)

// writeAgain writes partition p from its last commit on. The log now shows whose entry has the
// name: one of this stream, or of another that was created in the same second, for example by
// crawls that start together and write to one database. At the end it stops at the position that
// was reached before.
func (w *Writer) writeAgain(ctx context.Context, p int) (committed bool, err error) {
	w.mu.Lock()
	to := w.handled[p]
	delete(w.handled, p)
	w.mu.Unlock()
	if ctx.Err() == nil {
		return w.write(ctx, p, nil)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), againTime)
	defer cancel()
	return w.write(ctx, p, &to)
}

// write opens partition p and writes it until ctx is done, an error occurs, or it has reached to,
// unless that is nil.
func (w *Writer) write(ctx context.Context, p int, to *messages.Position) (committed bool, err error) {
	s, err := w.openPartition(ctx, p)
	if err != nil {
		if ctx.Err() != nil {
			return false, nil // nothing was open
		}
		return false, &openError{err}
	}
	w.opened(p)
	s.to = to
	err = s.run(ctx)
	if errors.Is(err, errStreamRecreated) {
		err = &openError{err}
	}
	return s.commits > 0, errors.Join(err, s.log.Close())
}

// openError is an error that ends as soon as the partition can be opened.
type openError struct{ error }

// Unwrap returns the cause.
func (e *openError) Unwrap() error { return e.error }

func (w *Writer) fail(p int, err error) {
	failuresTotal.WithLabelValues(w.cfg.Name).Inc()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.partitionErr) == 0 {
		w.troubleSince = time.Now()
	}
	w.partitionErr[p] = err
	delete(w.handled, p)
}

func (w *Writer) indexTrouble(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.ixErr == nil {
		w.log.Warn("cannot write the index", "error", err)
	}
	w.ixErr = err
}

// Entered returns a channel that is closed once the writer has opened a partition of its output,
// and so has the output: no writer of another stream has it.
func (w *Writer) Entered() <-chan struct{} { return w.entered }

func (w *Writer) opened(p int) {
	w.entering.Do(func() { close(w.entered) })
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := errors.AsType[*openError](w.partitionErr[p]); ok {
		delete(w.partitionErr, p)
	}
}

// leave forgets p. Errors of uncommitted records are kept for the end of Run.
func (w *Writer) leave(run context.Context, p int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.handled, p)
	if run.Err() == nil {
		delete(w.partitionErr, p)
	}
}

// resumed records the position from which p is read. If that is after the last known commit, a
// commit that seemed to fail has succeeded.
func (w *Writer) resumed(p int, at messages.Position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last, ok := w.committedAt[p]; ok && at.Created.Equal(last.Created) && at.Sequence > last.Sequence {
		delete(w.partitionErr, p)
	}
	w.handled[p], w.committedAt[p] = at, at
}

func (w *Writer) setHandled(p int, at messages.Position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handled[p] = at
}

// committed accounts for a commit of p.
func (w *Writer) committed(c *output.Commit, repeats, bad int, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.partitionErr, c.Partition)
	w.committedAt[c.Partition] = messages.Position{Created: c.Created, Sequence: c.LastSeq, Stored: c.Stored}
	t := Totals{Records: int64(c.Records()), Repeats: int64(repeats), Bad: int64(bad)}
	for _, f := range c.Files {
		w.staleManifests[f.Crawl] = true
		t.Bytes += f.Bytes
		if f.IndexOf == "" {
			t.Files, t.RawBytes = t.Files+1, t.RawBytes+f.RawBytes
		}
	}
	w.totals.add(t)
	name := w.cfg.Name
	recordsTotal.WithLabelValues(name).Add(float64(t.Records))
	filesTotal.WithLabelValues(name).Add(float64(t.Files))
	bytesTotal.WithLabelValues(name, "raw").Add(float64(t.RawBytes))
	bytesTotal.WithLabelValues(name, "file").Add(float64(t.Bytes))
	repeatsTotal.WithLabelValues(name).Add(float64(repeats))
	badTotal.WithLabelValues(name).Add(float64(bad))
	commitSeconds.WithLabelValues(name).Observe(took.Seconds())
}

func (t *Totals) add(o Totals) {
	t.Records, t.Files, t.Bytes, t.RawBytes = t.Records+o.Records, t.Files+o.Files, t.Bytes+o.Bytes, t.RawBytes+o.RawBytes
	t.Repeats, t.Bad = t.Repeats+o.Repeats, t.Bad+o.Bad
}

// Totals returns the totals of all commits. It is safe for concurrent use.
func (w *Writer) Totals() Totals {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.totals
}

// Err returns why partitions are waiting, nil if none is. It returns at once.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	errs := []error{w.ixErr}
	for p := range w.bus.Layout.Partitions {
		if err := w.partitionErr[p]; err != nil {
			errs = append(errs, fmt.Errorf("partition %d: %w", p, err))
		}
	}
	return errors.Join(errs...)
}

// Trouble returns Err, and since when any partition has been waiting.
func (w *Writer) Trouble() (since time.Time, err error) {
	err = w.Err()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.troubleSince, err
}

// CaughtUp reports whether this process has read everything that its stream holds now, in every
// partition: it is committed, or will be when Run ends. It is false while another process owns a
// partition with messages.
func (w *Writer) CaughtUp(ctx context.Context) (bool, error) {
	w.mu.Lock()
	handled := maps.Clone(w.handled)
	w.mu.Unlock()
	s, err := w.bus.JS.Stream(ctx, w.from.stream)
	if err != nil {
		return false, fmt.Errorf("inspect stream %s: %w", w.from.stream, err)
	}
	info := s.CachedInfo()
	for p := range w.bus.Layout.Partitions {
		m, err := w.bus.ReadFromLeader(ctx, w.from.stream, jsclient.Lookup{Last: w.from.ofPartition(p)})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("read the last record of partition %d: %w", p, err)
		}
		at, owned := handled[p]
		if !owned || !at.Created.Equal(info.Created) || at.Sequence < m.Seq {
			return false, nil
		}
		if at.Sequence > info.State.LastSeq || at.Sequence == m.Seq && !at.Stored.Equal(m.Time) {
			return false, nil // the stream lost its tail, and the reader has not noticed yet
		}
	}
	return true, nil
}
