package writer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"seine/internal/output"
	"seine/pkg/messages"
)

// Once the number of partitions is another, records of a page come in another partition than before. One
// that comes again, as of a page that was parsed, and is redriven from DEAD, must be known
// there too. So the index of a partition has, beside its own entries, those of the partitions
// that its pages may have been in before, up to the end that these had: nothing is added to
// them any more, and they are read once.

// formerEntries are the entries of the log that were committed under another number of
// partitions, read once in the life of a process.
type formerEntries struct {
	mu      sync.Mutex
	read    bool
	layouts []messages.FormerLayout
	refs    []output.Ref
	// lost are the lives of the stream whose entries are all of a former number of partitions, also those of messages beyond its
	// end: the stream has lost these messages, as by the restore of a backup, before it got others in their place.
	lost map[lostTail]bool
}

// lostTail is a life of the stream, by a name with 0 for the sequence, that lost its end under a number of partitions.
type lostTail struct {
	layout string // the ID of a FormerLayout
	life   output.Name
}

func lifeOf(n output.Name) output.Name {
	n.First = 0
	return n
}

// formerRefs are the entries that records of partition p may be in under a former number of
// partitions, of the life of the stream that began at created.
func (w *Writer) formerRefs(ctx context.Context, p int, created time.Time) (refs []output.Ref, err error) {
	f := &w.former
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := w.readFormer(ctx, f); err != nil {
		return nil, err
	}
	for _, r := range f.refs {
		if r.Partition != p && r.StreamCreated == output.CreatedStamp(created) && f.mayHold(w.from.stream, w.bus.Layout.Partitions, p, created, r) {
			refs = append(refs, r)
		}
	}
	return refs, nil
}

// mayHold reports whether an entry was committed under a former number of partitions, by a
// partition that shares a URL with partition p of now.
func (f *formerEntries) mayHold(stream string, partitions, p int, created time.Time, r output.Ref) bool {
	for _, l := range f.layouts {
		end := l.Ends[stream]
		step := commonDivisor(l.Partitions, partitions)
		before := r.First <= end.Sequence || f.lost[lostTail{l.ID, lifeOf(r.Name)}]
		if r.Partition < l.Partitions && r.Partition%step == p%step && end.Created.Equal(created) && before {
			return true
		}
	}
	return false
}

// readFormer reads the entries, once.
func (w *Writer) readFormer(ctx context.Context, f *formerEntries) (err error) {
	if f.read {
		return nil
	}
	if f.layouts, err = w.bus.FormerLayouts(ctx); err != nil {
		return err //nolint:wrapcheck // says all
	}
	if len(f.layouts) > 0 {
		log, ok := w.sink.(output.Log)
		if !ok {
			return errors.New("the output cannot be read: what was written under another number of partitions is not known")
		}
		// Of all partitions: to list one alone may remove what its owner is making.
		if f.refs, err = log.List(-1); err != nil {
			return fmt.Errorf("read commits: %w", err)
		}
		if f.lost, err = lostTails(f.layouts, w.from.stream, f.refs, log.Read); err != nil {
			return err
		}
	}
	f.read = true
	return nil
}

// lostTails finds the lives that lost their end. The first entry beyond the end of a number of partitions decides: it was
// committed before, or after the number was changed. Entries are in order.
func lostTails(layouts []messages.FormerLayout, stream string, refs []output.Ref, read func(output.Ref) (*output.Commit, error)) (map[lostTail]bool, error) {
	lost := make(map[lostTail]bool)
	for _, l := range layouts {
		for _, r := range refs {
			tail := lostTail{l.ID, lifeOf(r.Name)}
			if _, decided := lost[tail]; decided || r.First <= l.Ends[stream].Sequence || r.StreamCreated != output.CreatedStamp(l.Ends[stream].Created) {
				continue
			}
			c, err := read(r)
			if err != nil {
				return nil, fmt.Errorf("read commits: %w", err)
			}
			lost[tail] = c.Stored.Before(l.Ended)
		}
	}
	return lost, nil
}

func commonDivisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// SyncFormer makes the index of partition p know the records of entries of other partitions,
// beside its own.
func (i *index) SyncFormer(p int, created time.Time, refs []output.Ref, read func(output.Ref) (*output.Commit, error)) error {
	for _, r := range refs {
		mark := formerMarkKey(p, r.Name, created)
		_, closer, err := i.db.Get(mark)
		switch {
		case err == nil:
			if err := closer.Close(); err != nil {
				return fmt.Errorf("read index: %w", err)
			}
			continue
		case !errors.Is(err, pebble.ErrNotFound):
			return fmt.Errorf("read index: %w", err)
		}
		c, err := read(r)
		if err != nil {
			return err
		}
		if !c.Created.Equal(created) { // another life that began in the same second
			c = &output.Commit{}
		}
		if err := i.addUnder(p, created, c.Visits, mark, r.Stamp); err != nil {
			return err
		}
	}
	return nil
}
