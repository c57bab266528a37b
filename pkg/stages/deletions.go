package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/jsclient"
)

// storeDeletion keeps what the key of a crawl's deletion says, if that is newer than
// what is known. The spec of the deleted crawl is forgotten.
func (s *Specs) storeDeletion(crawl string, value []byte, rev uint64) bool {
	d, err := messages.DecodeDeletion(value, rev)
	if err != nil {
		s.bus.Log.Error("deletion ignored", "crawl", crawl, "revision", rev, "error", err)
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.deletions[crawl]
	if known != nil && (known.Rev > d.Rev || known.Rev == d.Rev && (known.Done || !d.Done)) {
		return false
	}
	s.deletions[crawl] = d
	if s.byCrawl[crawl].rev <= d.Rev {
		s.byCrawl[crawl] = defaultAfter(d)
	}
	s.changed(crawl, d.Rev)
	return true
}

// readDeletion reads the last deletion of a crawl, of whose spec more was read than
// the watch has told yet: what comes before it must be known as well.
func (s *Specs) readDeletion(ctx context.Context, crawl string) error {
	s.mu.RLock()
	behind := s.byCrawl[crawl].rev >= s.watched.Rev
	s.mu.RUnlock()
	if !behind {
		return nil
	}
	return s.askDeletion(ctx, crawl)
}

// askDeletion asks the leader for the last deletion of a crawl. If it returns no
// error, there is no other than what is known then.
func (s *Specs) askDeletion(ctx context.Context, crawl string) error {
	value, rev, err := s.bus.ReadKey(ctx, messages.BucketCrawls, messages.KeyDeletion(crawl))
	if err != nil {
		return err
	}
	if rev != 0 {
		s.storeDeletion(crawl, value, rev)
	}
	return nil
}

// GetSure is Get for what was said at a moment that has passed: a deletion that came
// before the call is known. It asks the leader each time.
func (s *Specs) GetSure(ctx context.Context, crawl string) (crawlspec.Revision, error) {
	if err := s.askDeletion(ctx, crawl); err != nil {
		return crawlspec.Revision{}, fmt.Errorf("read deletion of crawl %s: %w", crawl, err)
	}
	return s.Get(ctx, crawl, 0)
}

// deletedAt returns the revision of a crawl's last deletion, 0 if there is none.
func (s *Specs) deletedAt(ctx context.Context, crawl string) (uint64, error) {
	value, rev, err := s.bus.ReadKey(ctx, messages.BucketCrawls, messages.KeyDeletion(crawl))
	if err != nil || rev == 0 {
		return 0, err
	}
	d, err := messages.DecodeDeletion(value, rev)
	if err != nil {
		return 0, fmt.Errorf("crawl %s: %w", crawl, err)
	}
	return d.Rev, nil
}

// Deletions returns the deletions of which something is still to be done, by crawl.
func (s *Specs) Deletions() map[string]*messages.Deletion {
	s.mu.RLock()
	defer s.mu.RUnlock()
	left := maps.Clone(s.deletions)
	maps.DeleteFunc(left, func(_ string, d *messages.Deletion) bool { return d.Done })
	return left
}

// Delete stores that a crawl is deleted, as of now, and returns the deletion. What it
// is told of the crawl is stored with it.
func (s *Specs) Delete(ctx context.Context, crawl string, d messages.Deletion) (*messages.Deletion, error) {
	var stored uint64
	err := jsclient.RetryConflicts(ctx, func() error {
		rev, err := s.nextDeletion(ctx, crawl, &d)
		if err == nil {
			stored, err = jsclient.Swap(ctx, s.kv, messages.KeyDeletion(crawl), d.Encode(), rev)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("delete crawl %s: %w", crawl, err)
	}
	return s.deleted(crawl, d, stored), nil
}

// nextDeletion makes d the deletion that follows the last one of the crawl, and returns
// the revision that its key has, 0 if there was none.
func (s *Specs) nextDeletion(ctx context.Context, crawl string, d *messages.Deletion) (rev uint64, err error) {
	d.Rev, d.Done, d.Count, d.Unfinished = 0, false, 1, 0
	e, err := s.kv.Get(ctx, messages.KeyDeletion(crawl))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, nil
	}
	var before *messages.Deletion
	if err == nil {
		before, err = messages.DecodeDeletion(e.Value(), e.Revision())
	}
	if err != nil {
		return 0, fmt.Errorf("read the last deletion: %w", err)
	}
	d.Count += before.Count
	if !before.Done {
		d.Unfinished = before.Unfinished + 1
	}
	return e.Revision(), nil
}

// deleted notes a deletion that was stored at a revision.
func (s *Specs) deleted(crawl string, d messages.Deletion, rev uint64) *messages.Deletion {
	d.Rev = rev
	s.storeDeletion(crawl, d.Encode(), rev)
	return &d
}

// DeletionDone stores that nothing is left of a deleted crawl. It is no error if
// somebody else did, or the name was deleted once more.
func (s *Specs) DeletionDone(ctx context.Context, crawl string, d *messages.Deletion) error {
	e, err := s.kv.Get(ctx, messages.KeyDeletion(crawl))
	if err != nil {
		return fmt.Errorf("read deletion of crawl %s: %w", crawl, err)
	}
	if now, err := messages.DecodeDeletion(e.Value(), e.Revision()); err != nil || now.Rev != d.Rev || now.Done {
		return err
	}
	done := *d
	done.Done, done.Streams = true, nil
	stored, err := jsclient.Swap(ctx, s.kv, messages.KeyDeletion(crawl), done.Encode(), e.Revision())
	if err != nil && !jsclient.IsConflict(err) {
		return fmt.Errorf("store deletion of crawl %s: %w", crawl, err)
	}
	if err == nil {
		s.storeDeletion(crawl, done.Encode(), stored)
	}
	return nil
}
