package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/attribute"

	"seine/internal/base/tracing"
	"seine/internal/output"
	"seine/internal/output/format"
	"seine/internal/streams/partition"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// partitionWriter writes a partition from its last commit on.
type partitionWriter struct {
	w    *Writer
	p    int
	log  output.Partition
	form *fileLayout
	// lives are the incarnations of the stream in the log, by epoch and number.
	lives map[lifeKey]time.Time
	now   lifeKey // the incarnation being read
	// handled is the position of the reader: everything up to there is committed or in the open
	// set.
	handled messages.Position
	to      *messages.Position // where to end; nil if only the context ends it
	set     *pendingCommit     // nil if nothing is open
	full    *time.Timer
	commits int
}

// lifeKey is the part of a Name that identifies an incarnation of the stream.
type lifeKey struct {
	epoch string
	n     int
}

// openPartition opens p, and determines where to continue.
func (w *Writer) openPartition(ctx context.Context, p int) (*partitionWriter, error) {
	stream, err := w.bus.JS.Stream(ctx, w.from.stream)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", w.from.stream, err)
	}
	created := stream.CachedInfo().Created
	log, refs, err := w.sink.OpenPartition(p, created)
	if err != nil {
		return nil, err
	}
	s := &partitionWriter{w: w, p: p, log: log, form: w.form.fit(w.sink), lives: make(map[lifeKey]time.Time)}
	if err = s.resume(created, refs); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
}

// errPartitions is returned if a commit was made with another number of partitions: records of a
// page may have been in another partition.
var errPartitions = errors.New("it was committed with another number of partitions: restore the bucket " +
	messages.BucketMeta + " from a backup, or begin a new installation and write to a new output")

// resume determines from the log up to where the stream created at created has been read, and
// brings the index up to date.
func (w *partitionWriter) resume(created time.Time, refs []output.Ref) error {
	w.handled = messages.Position{Created: created}
	last := make(map[lifeKey]output.Ref) // refs are in order
	for _, r := range refs {
		last[lifeKey{r.StreamCreated, r.Incarnation}] = r
	}
	w.now = lifeKey{output.CreatedStamp(created), -1}
	for key, ref := range last {
		if key.epoch != w.now.epoch {
			continue
		}
		c, err := w.log.Read(ref)
		if err != nil {
			return err
		}
		w.lives[key] = c.Created
		if n := w.w.bus.Layout.Partitions; c.Created.Equal(created) && c.Partitions != n {
			return fmt.Errorf("%s: %w: %d then, %d now", c.Name(), errPartitions, c.Partitions, n)
		}
		if c.Created.Equal(created) && key.n > w.now.n {
			w.now = key
			w.handled = messages.Position{Created: c.Created, Sequence: c.LastSeq, Stored: c.Stored}
		}
	}
	if w.now.n < 0 {
		w.now = w.unused(created)
	}
	var same []output.Ref
	for _, r := range refs {
		if at, ok := w.lives[lifeKey{r.StreamCreated, r.Incarnation}]; ok && at.Equal(created) {
			same = append(same, r)
		}
	}
	return w.w.index.Sync(w.p, created, same, w.log.Read)
}

// unused returns the key for another incarnation of a stream with that creation time.
func (w *partitionWriter) unused(created time.Time) lifeKey {
	k := lifeKey{epoch: output.CreatedStamp(created)}
	for ; ; k.n++ {
		if _, ok := w.lives[k]; !ok {
			return k
		}
	}
}

// run writes the reader's messages until ctx is done, then commits the open set.
func (w *partitionWriter) run(ctx context.Context) error {
	w.full = time.NewTimer(0)
	w.full.Stop()
	w.w.resumed(w.p, w.handled)
	reader := partition.NewOrderedReader(w.w.bus, w.w.from.stream, w.w.consumer(w.p), w.handled)
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = reader.Run(reading)
	}()
	pressed, leave := w.w.flushSignal(w.p)
	err := w.loop(ctx, reader.C(), pressed)
	leave()
	stop()
	<-done
	if w.set != nil {
		w.set.abandon()
	}
	return err
}

func (w *partitionWriter) loop(ctx context.Context, messages <-chan *partition.ReaderMessage, pressed <-chan chan struct{}) error {
	for {
		if w.to != nil && w.to.Created.Equal(w.handled.Created) && w.handled.Sequence >= w.to.Sequence {
			return w.commit()
		}
		var err error
		select {
		case <-ctx.Done():
			return w.commit()
		case <-w.full.C:
			err = w.commitAged()
		case done := <-pressed:
			err = w.commit()
			close(done)
		case m := <-messages:
			err = w.handle(ctx, m)
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // a dead letter was not stored
			if w.set != nil && w.set.partial {
				return nil // the set has a part of a batch, which is read again as a whole
			}
			continue // nothing was done with its message
		}
		if err != nil {
			return err
		}
	}
}

// handle adds one message to the open set, and commits the set when it is full. A batch is added as
// a whole: no commit ends within it.
func (w *partitionWriter) handle(ctx context.Context, m *partition.ReaderMessage) error {
	if err := w.checkIncarnation(m); err != nil {
		return err
	}
	parts, broken := m.Parts()
	taken := make([]input, len(parts))
	for i, part := range parts {
		taken[i] = w.inputOf(part)
	}
	if w.hasNoRoom(taken) {
		if err := w.commit(); err != nil {
			return err
		}
	}
	if w.set == nil {
		w.set = newPendingCommit(newFileSet(w.form, w.log, w.name(m.Sequence), &w.w.open, w.handled.Created))
		w.full.Reset(time.Duration(w.w.cfg.ChunkAge))
	}
	if err := w.addAll(ctx, m, taken, broken); err != nil {
		w.set.partial = len(parts) > 1
		return err
	}
	w.set.last = m
	w.set.messages += max(1, len(parts))
	w.handled = m.Position
	w.w.setHandled(w.p, w.handled)
	if w.isFull() {
		return w.commit()
	}
	return nil
}

// input is a message that may be a record, and its group.
type input struct {
	*stages.Message
	rec   *format.Record
	group output.Group
}

func (w *partitionWriter) inputOf(m *stages.Message) input {
	rec := &format.Record{ID: w.w.from.id(m.Header), Stored: m.Stored, Header: m.Header, Data: m.Data}
	rec.Kind = w.w.from.kind(m)
	return input{m, rec, w.form.group(messages.CrawlOf(m.Subject), rec, w.p)}
}

// hasNoRoom reports whether the open set must be committed before the messages are added: they
// would exceed its limit, or open too many chunks.
func (w *partitionWriter) hasNoRoom(taken []input) bool {
	if w.set == nil {
		return false
	}
	return w.set.messages+len(taken) > w.mostMessages() || slices.ContainsFunc(taken, func(in input) bool { return w.isCrowded(in.group) })
}

// addAll adds the records in m, or sends it to DEAD.
func (w *partitionWriter) addAll(ctx context.Context, m *partition.ReaderMessage, taken []input, broken error) error {
	if broken != nil {
		return w.rejectToDead(ctx, &m.Message, broken)
	}
	for _, in := range taken {
		if w.w.cfg.leavesOut(in.Message) {
			continue
		}
		if err := w.addRecord(ctx, m.Position.Created, in); err != nil {
			return err
		}
	}
	return nil
}

// errStreamRecreated ends the writing of a partition whose stream was re-created. The log
// determines where the new one continues.
var errStreamRecreated = errors.New("the stream was re-created")

// checkIncarnation detects a message of another incarnation than the one being read.
func (w *partitionWriter) checkIncarnation(m *partition.ReaderMessage) error {
	same := m.Position.Created.Equal(w.handled.Created)
	if same && m.Sequence > w.handled.Sequence {
		return nil
	}
	if w.set != nil {
		w.set.last = nil // its acknowledgement would count for the new incarnation
	}
	if err := w.commit(); err != nil {
		return err
	}
	if !same {
		return errStreamRecreated
	}
	w.lives[w.now] = w.handled.Created // the number is used even if nothing was committed
	w.now = w.unused(w.handled.Created)
	w.handled = messages.Position{Created: w.handled.Created}
	w.w.log.Warn("stream lost its tail: writing its current messages to new files", "partition", w.p, "life", w.now.n)
	return nil
}

// addRecord handles a message as a record, a repeat, or an invalid record.
func (w *partitionWriter) addRecord(ctx context.Context, created time.Time, in input) error {
	m, rec := in.Message, in.rec
	if err := cmp.Or(messages.CheckCrawl(in.group.Crawl), w.checkInput(m)); err != nil {
		return w.rejectToDead(ctx, m, err)
	}
	id := identityOf(rec.ID)
	repeat, err := w.isRepeat(created, id)
	if err != nil {
		return err
	}
	if repeat {
		w.set.repeats++
		w.w.log.Debug("repeat dropped", about(m)...)
		return nil
	}
	if w.w.from.isPages {
		if rec.Page, err = pageOf(ctx, w.w.bus, m.Header, m.Data); err != nil {
			return err
		}
		w.w.noteExactness(rec.Page)
	}
	err = w.set.add(in.group, rec, m.Sequence)
	if why, ok := errors.AsType[*noKeyError](err); ok {
		w.set.bad++
		return w.publishDead(ctx, m, why)
	}
	if err != nil {
		if !cannotBeWritten(err) {
			return fmt.Errorf("write record of crawl %s: %w", in.group.Crawl, err)
		}
		w.set.dropEmpty(in.group)
		return w.rejectToDead(ctx, m, err)
	}
	w.set.traced.Add(w.w.bus.Tracer, "write", m.Header, func() []attribute.KeyValue {
		attrs := stages.MessageAttributes(messages.StageWriter, m)
		return append(attrs, stages.SubjectOfRecord(rec.ID).Attributes()...)
	})
	w.set.ids[id] = struct{}{}
	w.set.visits = append(w.set.visits, id[:]...)
	return w.w.hook.At(output.StepAppended)
}

func (w *partitionWriter) isRepeat(created time.Time, id identity) (bool, error) {
	if _, ok := w.set.ids[id]; ok {
		return true, nil
	}
	return w.w.index.Has(w.p, created, id)
}

// cannotBeWritten reports whether a record can never be written, and has left no trace in its
// chunk.
func cannotBeWritten(err error) bool {
	_, refused := errors.AsType[*format.RefusedError](err)
	return refused && stages.IsPoison(err)
}

// rejectToDead sends m to DEAD instead of the output.
func (w *partitionWriter) rejectToDead(ctx context.Context, m *stages.Message, why error) error {
	if err := w.publishDead(ctx, m, why); err != nil {
		return err
	}
	w.set.bad++
	return nil
}

// publishDead publishes m to DEAD.
func (w *partitionWriter) publishDead(ctx context.Context, m *stages.Message, why error) error {
	w.w.log.Warn("message goes to DEAD", append(about(m), "error", why)...)
	return w.w.pub.Publish(ctx, stages.DeadLetter(messages.StageWriter, m, why))
}

// about returns the log attributes of a message.
func about(m *stages.Message) []any {
	id := m.Header.Get(nats.MsgIdHdr)
	subject := stages.SubjectOfRecord(id)
	if subject.Crawl == "" {
		subject.Crawl = messages.CrawlOf(m.Subject)
	}
	return append(subject.LogAttrsIn(m.Header), "subject", m.Subject, "sequence", m.Sequence, "id", id)
}

// maxOpen bounds the chunks that a process writes at the same time, and so its memory, however many
// crawls it writes. A partition may always have one.
const maxOpen = 64

// isCrowded reports whether another chunk would exceed maxOpen.
func (w *partitionWriter) isCrowded(g output.Group) bool {
	return w.form.body == nil && w.set != nil && len(w.set.chunks) > 0 && w.set.chunks[g] == nil && w.w.open.Load() >= maxOpen
}

func (w *partitionWriter) name(first uint64) output.Name {
	return output.Name{Partition: w.p, StreamCreated: w.now.epoch, Incarnation: w.now.n, First: first}
}

// maxObjects bounds the objects of a commit, and so the size of its entry and its duration.
const maxObjects = 1000

// mostMessages returns the maximum number of messages of a commit, except for a single larger
// batch.
func (w *partitionWriter) mostMessages() int {
	if w.form.body != nil {
		return min(w.w.cfg.ChunkRecords, maxObjects)
	}
	return w.w.cfg.ChunkRecords
}

func (w *partitionWriter) isFull() bool {
	return w.set.messages >= w.mostMessages() || w.set.raw >= int64(w.w.cfg.ChunkBytes)
}

// commitAged commits the open set at the age of chunks. If that age is the default, a small set
// stays open until slowAge.
func (w *partitionWriter) commitAged() error {
	if more := w.w.slowAge - time.Duration(w.w.cfg.ChunkAge); w.set != nil && !w.set.waited && w.set.raw < slowBytes && more > 0 {
		w.set.waited = true
		w.full.Reset(more)
		return nil
	}
	return w.commit()
}

// commit makes the open set part of the output: steps 2 to 4 of the package comment. Afterwards the
// set is gone; after an error only the log shows whether it was committed.
func (w *partitionWriter) commit() error {
	set := w.set
	if set == nil || set.messages == 0 {
		return nil
	}
	w.full.Stop()
	start := time.Now()
	defer func() {
		set.abandon()
		w.set = nil
	}()
	c := &output.Commit{
		Partition: w.p, Partitions: w.w.bus.Layout.Partitions, Created: w.handled.Created, Incarnation: w.now.n,
		FirstSeq: set.first, LastSeq: w.handled.Sequence, Stored: w.handled.Stored, Visits: set.visits,
	}
	if err := set.fill(c); err != nil {
		return err
	}
	ref, err := w.log.Commit(c)
	if err == nil {
		err = w.w.hook.At(output.StepCommitted)
	}
	if err != nil {
		return fmt.Errorf("commit %s: %w", c.Name(), err)
	}
	if set.last != nil {
		set.last.Ack()
	}
	set.traced.End(tracing.Commit.String(c.Name().String()))
	w.commits++
	w.lives[w.now] = c.Created
	w.w.committed(c, set.repeats, set.bad, time.Since(start))
	w.w.log.Debug("committed", "partition", w.p, "first", c.FirstSeq, "last", c.LastSeq, "records", c.Records(), "files", len(c.Files))
	if err := w.w.hook.At(output.StepAcked); err != nil {
		return err
	}
	if err := w.w.index.Add(ref, c); err != nil {
		return err
	}
	return w.w.hook.At(output.StepIndexed)
}
