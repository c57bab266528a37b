package writer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// partition is one stay in a partition, from the last commit on.
type partition struct {
	w   *Writer
	p   int
	log Partition
	// lives are the lives of the stream that the log knows, by epoch and number.
	lives map[lifeKey]time.Time
	now   lifeKey // the one being read
	// handled is where the feed stands: everything up to there is committed or
	// in the open set.
	handled stages.Position
	set     *openSet // nil when nothing is open
	full    *time.Timer
	commits int
}

// lifeKey is the part of a Name that tells lives of the stream apart.
type lifeKey struct {
	epoch string
	n     int
}

// openPartition enters p, and finds where it goes on.
func (w *Writer) openPartition(ctx context.Context, p int) (*partition, error) {
	stream, err := w.bus.JS.Stream(ctx, messages.StreamRecords)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", messages.StreamRecords, err)
	}
	created := stream.CachedInfo().Created
	log, refs, err := w.sink.Open(p, created)
	if err != nil {
		return nil, err
	}
	s := &partition{w: w, p: p, log: log, lives: make(map[lifeKey]time.Time)}
	if err := s.resume(created, refs); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
}

// resume learns from the log where the life of the stream that began at created
// has been read up to, and what has been written of it.
func (s *partition) resume(created time.Time, refs []Ref) error {
	s.handled = stages.Position{Created: created}
	last := make(map[lifeKey]Ref) // refs are in order
	for _, r := range refs {
		last[lifeKey{r.Epoch, r.Life}] = r
	}
	s.now = lifeKey{epochOf(created), -1}
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
			s.handled = stages.Position{Created: c.Created, Sequence: c.LastSeq, Stored: c.Stored}
		}
	}
	if s.now.n < 0 {
		s.now = s.unused(created)
	}
	var same []Ref
	for _, r := range refs {
		if at, ok := s.lives[lifeKey{r.Epoch, r.Life}]; ok && at.Equal(created) {
			same = append(same, r)
		}
	}
	return s.w.index.Sync(s.p, created, same, s.log.Read)
}

// unused returns the key for another life of a stream created then.
func (s *partition) unused(created time.Time) lifeKey {
	k := lifeKey{epoch: epochOf(created)}
	for ; ; k.n++ {
		if _, ok := s.lives[k]; !ok {
			return k
		}
	}
}

// run writes what the feed gives until ctx is done, then commits what is open.
func (s *partition) run(ctx context.Context) error {
	s.full = time.NewTimer(0)
	s.full.Stop()
	s.w.setHandled(s.p, s.handled)
	config := messages.PartitionConsumer(messages.ConsumerWriter+"-"+s.w.cfg.Name, "records", s.p)
	feed := stages.NewFeed(s.w.bus, messages.StreamRecords, config, s.handled)
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = feed.Run(reading)
	}()
	err := s.loop(ctx, feed.C())
	stop()
	<-done
	if s.set != nil {
		s.set.abandon()
	}
	return err
}

func (s *partition) loop(ctx context.Context, feed <-chan *stages.FeedMessage) error {
	for {
		var err error
		select {
		case <-ctx.Done():
			return s.commit()
		case <-s.full.C:
			err = s.commit()
		case m := <-feed:
			err = s.handle(ctx, m)
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			continue // a dead letter was given up, before anything was done with its message
		}
		if err != nil {
			return err
		}
	}
}

// handle takes one message to the open set, and commits the set when it is
// full.
func (s *partition) handle(ctx context.Context, m *stages.FeedMessage) error {
	if err := s.follow(m); err != nil {
		return err
	}
	crawl := messages.CrawlOf(m.Subject)
	if s.isCrowded(crawl) {
		if err := s.commit(); err != nil {
			return err
		}
	}
	if s.set == nil {
		s.set = newOpenSet(m.Sequence)
		s.full.Reset(time.Duration(s.w.cfg.ChunkAge))
	}
	if err := s.take(ctx, crawl, m); err != nil {
		return err
	}
	s.set.last = m
	s.set.messages++
	s.handled = m.Position
	s.w.setHandled(s.p, s.handled)
	if s.isFull() {
		return s.commit()
	}
	return nil
}

// errAnew ends a stay in a partition whose stream was made anew. The log knows
// where the new one goes on.
var errAnew = errors.New("the stream was made anew")

// follow notices that m is not of the life that was read until now.
func (s *partition) follow(m *stages.FeedMessage) error {
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
		return errAnew
	}
	s.lives[s.now] = s.handled.Created // the number is taken, even if nothing was committed
	s.now = s.unused(s.handled.Created)
	s.handled = stages.Position{Created: s.handled.Created}
	s.w.log.Warn("stream lost its tail, what it has now goes to new files", "partition", s.p, "life", s.now.n)
	return nil
}

// take does with m what is to be done: it is a record, a repeat, or bad.
func (s *partition) take(ctx context.Context, crawl string, m *stages.FeedMessage) error {
	if err := cmp.Or(messages.CheckCrawl(crawl), messages.CheckRecord(m.Header, m.Data)); err != nil {
		if err := s.bury(ctx, m, err); err != nil {
			return err
		}
		s.set.bad++
		return nil
	}
	id := identityOf(m.Header.Get(nats.MsgIdHdr))
	repeat, err := s.isRepeat(m.Position.Created, id)
	if err != nil {
		return err
	}
	if repeat {
		s.set.repeats++
		s.w.log.Debug("repeat dropped", "id", m.Header.Get(nats.MsgIdHdr), "message", &m.Message)
		return nil
	}
	if err := s.append(crawl, m.Data); err != nil {
		return fmt.Errorf("write record of crawl %s: %w", crawl, err)
	}
	s.set.ids[id] = struct{}{}
	s.set.visits = append(s.set.visits, id[:]...)
	return s.w.hook.at(stepAppended)
}

func (s *partition) isRepeat(created time.Time, id identity) (bool, error) {
	if _, ok := s.set.ids[id]; ok {
		return true, nil
	}
	return s.w.index.Has(s.p, created, id)
}

// bury publishes m to DEAD. It never holds back the partition for a message
// that DEAD cannot take.
func (s *partition) bury(ctx context.Context, m *stages.FeedMessage, why error) error {
	s.w.log.Warn("message goes to DEAD", "message", &m.Message, "error", why)
	bad := m.Message
	bad.Header = maps.Clone(m.Header)
	// Headers that tell the server what to expect of RECORDS would make it
	// refuse the letter.
	maps.DeleteFunc(bad.Header, func(k string, _ []string) bool {
		return strings.HasPrefix(k, "Nats-") && k != nats.MsgIdHdr
	})
	err := s.w.pub.Publish(ctx, stages.DeadLetter(messages.StageWriter, &bad, why))
	if errors.Is(err, stages.ErrUnpublishable) {
		// With its reason it is larger than a message may be.
		bad.Data = nil
		why = fmt.Errorf("%w (the payload of %d bytes is left out, it is still in the stream)", why, len(m.Data))
		err = s.w.pub.Publish(ctx, stages.DeadLetter(messages.StageWriter, &bad, why))
	}
	if errors.Is(err, stages.ErrUnpublishable) {
		s.w.log.Error("message was dropped, DEAD cannot take it", "message", &m.Message, "error", err)
		return nil
	}
	return err
}

// maxOpen bounds the chunks that a process writes at the same time, and so its
// memory, however many crawls there are. A partition may always have one.
const maxOpen = 64

// isCrowded reports that another chunk would be one too many.
func (s *partition) isCrowded(crawl string) bool {
	return s.set != nil && len(s.set.chunks) > 0 && s.set.chunks[crawl] == nil && s.w.open.Load() >= maxOpen
}

// append writes a record to the chunk of its crawl.
func (s *partition) append(crawl string, record []byte) error {
	c := s.set.chunks[crawl]
	if c == nil {
		var err error
		if c, err = s.create(crawl); err != nil {
			return err
		}
	}
	if err := c.enc.Append(record); err != nil {
		return err
	}
	c.records++
	c.raw += int64(len(record)) + 1
	s.set.raw += int64(len(record)) + 1
	return nil
}

func (s *partition) create(crawl string) (*openChunk, error) {
	chunk, err := s.log.Create(s.name(), crawl, s.w.format.Ext())
	if err != nil {
		return nil, err
	}
	s.w.open.Add(1)
	c := &openChunk{Chunk: chunk, closed: func() { s.w.open.Add(-1) }}
	s.set.chunks[crawl] = c
	c.enc, err = s.w.format.NewEncoder(chunk)
	return c, err
}

func (s *partition) name() Name {
	return Name{Partition: s.p, Epoch: s.now.epoch, Life: s.now.n, First: s.set.first}
}

func (s *partition) isFull() bool {
	return s.set.messages >= s.w.cfg.ChunkRecords || s.set.raw >= int64(s.w.cfg.ChunkBytes)
}

// commit makes the open set part of the output: steps 2 to 4 of the package
// comment. The set is gone after it; after an error only the log knows whether
// it was committed.
func (s *partition) commit() error {
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
	c := &Commit{
		Partition: s.p, Created: s.handled.Created, Life: s.now.n,
		FirstSeq: set.first, LastSeq: s.handled.Sequence, Stored: s.handled.Stored, Visits: set.visits,
	}
	var err error
	if c.Files, err = set.finish(); err != nil {
		return fmt.Errorf("commit %s: %w", c.Name(), err)
	}
	ref, err := s.log.Commit(c)
	if err == nil {
		err = s.w.hook.at(stepCommitted)
	}
	if err != nil {
		return fmt.Errorf("commit %s: %w", c.Name(), err)
	}
	if set.last != nil {
		set.last.Ack()
	}
	s.commits++
	s.lives[s.now] = c.Created
	s.w.committed(c, set.repeats, set.bad, time.Since(start))
	s.w.log.Debug("committed", "partition", s.p, "first", c.FirstSeq, "last", c.LastSeq, "records", c.Records(), "files", len(c.Files))
	if err := s.w.hook.at(stepAcked); err != nil {
		return err
	}
	if err := s.w.index.Add(ref, c); err != nil {
		return err
	}
	return s.w.hook.at(stepIndexed)
}
