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
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/partition"
)

// partitionWriter is one stay in a partition, from the last commit on.
type partitionWriter struct {
	w    *Writer
	p    int
	log  output.Partition
	form *fileLayout
	// lives are the lives of the stream that the log knows, by epoch and number.
	lives map[lifeKey]time.Time
	now   lifeKey // the one being read
	// handled is where the reader stands: everything up to there is committed or
	// in the open set.
	handled messages.Position
	to      *messages.Position // where to end; nil where only the context ends it
	set     *pendingCommit     // nil when nothing is open
	full    *time.Timer
	commits int
}

// lifeKey is the part of a Name that tells lives of the stream apart.
type lifeKey struct {
	epoch string
	n     int
}

// openPartition enters p, and finds where it goes on.
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
	err = s.resume(created, refs)
	if err == nil {
		refs, err = w.formerRefs(ctx, p, created)
	}
	if err == nil {
		err = w.index.SyncFormer(p, created, refs, log.Read)
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
}

// resume learns from the log where the life of the stream that began at created
// has been read up to, and what has been written of it.
func (s *partitionWriter) resume(created time.Time, refs []output.Ref) error {
	s.handled = messages.Position{Created: created}
	last := make(map[lifeKey]output.Ref) // refs are in order
	for _, r := range refs {
		last[lifeKey{r.StreamCreated, r.Incarnation}] = r
	}
	s.now = lifeKey{output.CreatedStamp(created), -1}
	for key, ref := range last {
		if key.epoch != s.now.epoch {
			continue
		}
		c, err := s.log.Read(ref)
		if err != nil {
			return err
		}
		s.lives[key] = c.Created
		if c.Created.Equal(created) && key.n > s.now.n {
			s.now = key
			s.handled = messages.Position{Created: c.Created, Sequence: c.LastSeq, Stored: c.Stored}
		}
	}
	if s.now.n < 0 {
		s.now = s.unused(created)
	}
	var same []output.Ref
	for _, r := range refs {
		if at, ok := s.lives[lifeKey{r.StreamCreated, r.Incarnation}]; ok && at.Equal(created) {
			same = append(same, r)
		}
	}
	return s.w.index.Sync(s.p, created, same, s.log.Read)
}

// unused returns the key for another life of a stream created then.
func (s *partitionWriter) unused(created time.Time) lifeKey {
	k := lifeKey{epoch: output.CreatedStamp(created)}
	for ; ; k.n++ {
		if _, ok := s.lives[k]; !ok {
			return k
		}
	}
}

// run writes what the reader gives until ctx is done, then commits what is open.
func (s *partitionWriter) run(ctx context.Context) error {
	s.full = time.NewTimer(0)
	s.full.Stop()
	s.w.resumed(s.p, s.handled)
	reader := partition.NewOrderedReader(s.w.bus, s.w.from.stream, s.w.consumer(s.p), s.handled)
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = reader.Run(reading)
	}()
	pressed, leave := s.w.flushSignal(s.p)
	err := s.loop(ctx, reader.C(), pressed)
	leave()
	stop()
	<-done
	if s.set != nil {
		s.set.abandon()
	}
	return err
}

func (s *partitionWriter) loop(ctx context.Context, messages <-chan *partition.ReaderMessage, pressed <-chan struct{}) error {
	for {
		if s.to != nil && s.to.Created.Equal(s.handled.Created) && s.handled.Sequence >= s.to.Sequence {
			return s.commit()
		}
		var err error
		select {
		case <-ctx.Done():
			return s.commit()
		case <-s.full.C:
			err = s.commit()
		case <-pressed:
			err = s.commit()
		case m := <-messages:
			err = s.handle(ctx, m)
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // a dead letter was given up
			if s.set != nil && s.set.partial {
				return nil // a part of its batch is in the set, which is done again whole
			}
			continue // before anything was done with its message
		}
		if err != nil {
			return err
		}
	}
}

// handle takes one message to the open set, and commits the set when it is full. A batch is
// taken whole: no commit ends within it.
func (s *partitionWriter) handle(ctx context.Context, m *partition.ReaderMessage) error {
	if err := s.checkIncarnation(m); err != nil {
		return err
	}
	parts, broken := m.Parts()
	taken := make([]input, len(parts))
	for i, part := range parts {
		taken[i] = s.inputOf(part)
	}
	if s.hasNoRoom(taken) {
		if err := s.commit(); err != nil {
			return err
		}
	}
	if s.set == nil {
		s.set = newPendingCommit(newFileSet(s.form, s.log, s.name(m.Sequence), &s.w.open, s.handled.Created))
		s.full.Reset(time.Duration(s.w.cfg.ChunkAge))
	}
	if err := s.addAll(ctx, m, taken, broken); err != nil {
		s.set.partial = len(parts) > 1
		return err
	}
	s.set.last = m
	s.set.messages += max(1, len(parts))
	s.handled = m.Position
	s.w.setHandled(s.p, s.handled)
	if s.isFull() {
		return s.commit()
	}
	return nil
}

// input is a message that may be a record, and where it would go.
type input struct {
	*stages.Message
	rec   *format.Record
	group output.Group
}

func (s *partitionWriter) inputOf(m *stages.Message) input {
	rec := &format.Record{ID: s.w.from.id(m.Header), Stored: m.Stored, Header: m.Header, Data: m.Data}
	rec.Kind = s.w.from.kind(m)
	return input{m, rec, s.form.group(messages.CrawlOf(m.Subject), rec, s.p)}
}

// hasNoRoom reports that what is open must be committed before the messages are taken: they would make it larger than
// it may be, or open a chunk too many.
func (s *partitionWriter) hasNoRoom(taken []input) bool {
	if s.set == nil {
		return false
	}
	return s.set.messages+len(taken) > s.mostMessages() || slices.ContainsFunc(taken, func(in input) bool { return s.isCrowded(in.group) })
}

// addAll does with what m holds what is to be done.
func (s *partitionWriter) addAll(ctx context.Context, m *partition.ReaderMessage, taken []input, broken error) error {
	if broken != nil {
		return s.rejectToDead(ctx, &m.Message, broken)
	}
	for _, in := range taken {
		if s.w.cfg.leavesOut(in.Message) {
			continue
		}
		if err := s.addRecord(ctx, m.Position.Created, in); err != nil {
			return err
		}
	}
	return nil
}

// errStreamRecreated ends a stay in a partition whose stream was made anew. The log knows
// where the new one goes on.
var errStreamRecreated = errors.New("the stream was re-created")

// checkIncarnation notices that m is not of the life that was read until now.
func (s *partitionWriter) checkIncarnation(m *partition.ReaderMessage) error {
	same := m.Position.Created.Equal(s.handled.Created)
	if same && m.Sequence > s.handled.Sequence {
		return nil
	}
	if s.set != nil {
		s.set.last = nil // its acknowledgement would be taken for one of the new life
	}
	if err := s.commit(); err != nil {
		return err
	}
	if !same {
		return errStreamRecreated
	}
	s.lives[s.now] = s.handled.Created // the number is taken, even if nothing was committed
	s.now = s.unused(s.handled.Created)
	s.handled = messages.Position{Created: s.handled.Created}
	s.w.log.Warn("stream lost its tail, what it has now goes to new files", "partition", s.p, "life", s.now.n)
	return nil
}

// addRecord does with a message what is to be done: it is a record, a repeat, or bad.
func (s *partitionWriter) addRecord(ctx context.Context, created time.Time, in input) error {
	m, rec := in.Message, in.rec
	if err := cmp.Or(messages.CheckCrawl(in.group.Crawl), s.checkInput(m)); err != nil {
		return s.rejectToDead(ctx, m, err)
	}
	id := identityOf(rec.ID)
	repeat, err := s.isRepeat(created, id)
	if err != nil {
		return err
	}
	if repeat {
		s.set.repeats++
		s.w.log.Debug("repeat dropped", about(m)...)
		return nil
	}
	if s.w.from.isPages {
		if rec.Page, err = pageOf(ctx, s.w.bus, m.Header, m.Data); err != nil {
			return err
		}
		s.w.noteExactness(rec.Page)
	}
	err = s.set.add(in.group, rec, m.Sequence)
	if why, ok := errors.AsType[*noKeyError](err); ok {
		s.set.bad++
		return s.publishDead(ctx, m, why)
	}
	if err != nil {
		if !cannotBeWritten(err) {
			return fmt.Errorf("write record of crawl %s: %w", in.group.Crawl, err)
		}
		s.set.dropEmpty(in.group)
		return s.rejectToDead(ctx, m, err)
	}
	s.set.traced.Add(s.w.bus.Tracer, "write", m.Header, func() []attribute.KeyValue {
		attrs := stages.MessageAttributes(messages.StageWriter, m)
		return append(attrs, stages.SubjectOfRecord(rec.ID).Attributes()...)
	})
	s.set.ids[id] = struct{}{}
	s.set.visits = append(s.set.visits, id[:]...)
	return s.w.hook.At(output.StepAppended)
}

func (s *partitionWriter) isRepeat(created time.Time, id identity) (bool, error) {
	if _, ok := s.set.ids[id]; ok {
		return true, nil
	}
	return s.w.index.Has(s.p, created, id)
}

// cannotBeWritten reports whether a record will never be written, and has left no
// trace in its chunk.
func cannotBeWritten(err error) bool {
	_, refused := errors.AsType[*format.RefusedError](err)
	return refused && stages.IsPoison(err)
}

// rejectToDead has m in DEAD instead of the output.
func (s *partitionWriter) rejectToDead(ctx context.Context, m *stages.Message, why error) error {
	if err := s.publishDead(ctx, m, why); err != nil {
		return err
	}
	s.set.bad++
	return nil
}

// publishDead publishes m to DEAD.
func (s *partitionWriter) publishDead(ctx context.Context, m *stages.Message, why error) error {
	s.w.log.Warn("message goes to DEAD", append(about(m), "error", why)...)
	return s.w.pub.Publish(ctx, stages.DeadLetter(messages.StageWriter, m, why))
}

// about is what a line about a message has.
func about(m *stages.Message) []any {
	id := m.Header.Get(nats.MsgIdHdr)
	subject := stages.SubjectOfRecord(id)
	if subject.Crawl == "" {
		subject.Crawl = messages.CrawlOf(m.Subject)
	}
	return append(subject.LogAttrsIn(m.Header), "subject", m.Subject, "sequence", m.Sequence, "id", id)
}

// maxOpen bounds the chunks that a process writes at the same time, and so its
// memory, however many crawls there are. A partition may always have one.
const maxOpen = 64

// isCrowded reports that another chunk would be one too many.
func (s *partitionWriter) isCrowded(g output.Group) bool {
	return s.form.body == nil && s.set != nil && len(s.set.chunks) > 0 && s.set.chunks[g] == nil && s.w.open.Load() >= maxOpen
}

func (s *partitionWriter) name(first uint64) output.Name {
	return output.Name{Partition: s.p, StreamCreated: s.now.epoch, Incarnation: s.now.n, First: first}
}

// maxObjects bounds the objects of a commit, and so its entry, which names them,
// and the time that it takes.
const maxObjects = 1000

// mostMessages is how many messages a commit has at most, but for one that is a larger batch.
func (s *partitionWriter) mostMessages() int {
	if s.form.body != nil {
		return min(s.w.cfg.ChunkRecords, maxObjects)
	}
	return s.w.cfg.ChunkRecords
}

func (s *partitionWriter) isFull() bool {
	return s.set.messages >= s.mostMessages() || s.set.raw >= int64(s.w.cfg.ChunkBytes)
}

// commit makes the open set part of the output: steps 2 to 4 of the package
// comment. The set is gone after it; after an error only the log knows whether
// it was committed.
func (s *partitionWriter) commit() error {
	set := s.set
	if set == nil || set.messages == 0 {
		return nil
	}
	s.full.Stop()
	start := time.Now()
	defer func() {
		set.abandon()
		s.set = nil
	}()
	c := &output.Commit{
		Partition: s.p, Created: s.handled.Created, Incarnation: s.now.n,
		FirstSeq: set.first, LastSeq: s.handled.Sequence, Stored: s.handled.Stored, Visits: set.visits,
	}
	if err := set.fill(c); err != nil {
		return err
	}
	ref, err := s.log.Commit(c)
	if err == nil {
		err = s.w.hook.At(output.StepCommitted)
	}
	if err != nil {
		return fmt.Errorf("commit %s: %w", c.Name(), err)
	}
	if set.last != nil {
		set.last.Ack()
	}
	set.traced.End(tracing.Commit.String(c.Name().String()))
	s.commits++
	s.lives[s.now] = c.Created
	s.w.committed(c, set.repeats, set.bad, time.Since(start))
	s.w.log.Debug("committed", "partition", s.p, "first", c.FirstSeq, "last", c.LastSeq, "records", c.Records(), "files", len(c.Files))
	if err := s.w.hook.At(output.StepAcked); err != nil {
		return err
	}
	if err := s.w.index.Add(ref, c); err != nil {
		return err
	}
	return s.w.hook.At(output.StepIndexed)
}
