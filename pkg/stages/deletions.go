package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/pkg/messages"
)

// SpecDeletions reads and stores the deletions of crawls, which are keys of the bucket of specs.
type SpecDeletions struct{ *Specs }

// store records a stored deletion of a crawl if it is newer than the known one, and forgets the
// spec of the deleted crawl.
func (sd SpecDeletions) store(crawl string, value []byte, rev uint64) bool {
	d, err := messages.DecodeDeletion(value, rev)
	if err != nil {
		sd.bus.Log.Error("deletion ignored", "crawl", crawl, "revision", rev, "error", err)
		return false
	}
	sd.mu.Lock()
	defer sd.mu.Unlock()
	known := sd.deletions[crawl]
	if known != nil && (known.Rev > d.Rev || known.Rev == d.Rev && (known.Done || !d.Done)) {
		return false
	}
	sd.deletions[crawl] = d
	if sd.byCrawl[crawl].rev <= d.Rev {
		sd.byCrawl[crawl] = defaultAfter(d)
	}
	sd.changed(crawl, d.Rev)
	return true
}

// read reads the last deletion of a crawl whose spec was read at a revision that the watch has not
// reached: an earlier deletion must be known as well.
func (sd SpecDeletions) read(ctx context.Context, crawl string) error {
	sd.mu.RLock()
	behind := sd.byCrawl[crawl].rev >= sd.watched.Rev
	sd.mu.RUnlock()
	if !behind {
		return nil
	}
	return sd.ask(ctx, crawl)
}

// ask asks the leader for the last deletion of a crawl. If it returns no error, the known deletion
// is the latest.
func (sd SpecDeletions) ask(ctx context.Context, crawl string) error {
	value, rev, err := sd.bus.ReadKey(ctx, messages.BucketCrawls, messages.KeyDeletion(crawl))
	if err != nil {
		return err
	}
	if rev != 0 {
		sd.store(crawl, value, rev)
	}
	return nil
}

// at returns the revision of a crawl's last deletion, or 0 if there is none.
func (sd SpecDeletions) at(ctx context.Context, crawl string) (uint64, error) {
	value, rev, err := sd.bus.ReadKey(ctx, messages.BucketCrawls, messages.KeyDeletion(crawl))
	if err != nil || rev == 0 {
		return 0, err
	}
	d, err := messages.DecodeDeletion(value, rev)
	if err != nil {
		return 0, fmt.Errorf("crawl %s: %w", crawl, err)
	}
	return d.Rev, nil
}

// All returns the unfinished deletions by crawl.
func (sd SpecDeletions) All() map[string]*messages.Deletion {
	sd.mu.RLock()
	defer sd.mu.RUnlock()
	left := maps.Clone(sd.deletions)
	maps.DeleteFunc(left, func(_ string, d *messages.Deletion) bool { return d.Done })
	return left
}

// Delete stores the deletion of a crawl and returns it. d holds its arguments.
func (sd SpecDeletions) Delete(ctx context.Context, crawl string, d messages.Deletion) (*messages.Deletion, error) {
	var stored uint64
	err := jsclient.RetryConflicts(ctx, func() error {
		rev, err := sd.next(ctx, crawl, &d)
		if err == nil {
			stored, err = jsclient.Swap(ctx, sd.kv, messages.KeyDeletion(crawl), d.Encode(), rev)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("delete crawl %s: %w", crawl, err)
	}
	return sd.note(crawl, d, stored), nil
}

// next turns d into the successor of the crawl's last deletion, and returns the revision of its
// key, or 0 if there is none.
func (sd SpecDeletions) next(ctx context.Context, crawl string, d *messages.Deletion) (rev uint64, err error) {
	d.Rev, d.Done, d.Count, d.Unfinished = 0, false, 1, 0
	e, err := sd.kv.Get(ctx, messages.KeyDeletion(crawl))
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

// note records a deletion that was stored at a revision.
func (sd SpecDeletions) note(crawl string, d messages.Deletion, rev uint64) *messages.Deletion {
	d.Rev = rev
	sd.store(crawl, d.Encode(), rev)
	return &d
}

// Done stores that removed all data of a deleted crawl. It returns no error if another process did
// so, or the name was deleted again.
func (sd SpecDeletions) Done(ctx context.Context, crawl string, d *messages.Deletion) error {
	e, err := sd.kv.Get(ctx, messages.KeyDeletion(crawl))
	if err != nil {
		return fmt.Errorf("read deletion of crawl %s: %w", crawl, err)
	}
	if now, err := messages.DecodeDeletion(e.Value(), e.Revision()); err != nil || now.Rev != d.Rev || now.Done {
		return err
	}
	done := *d
	done.Done, done.Streams = true, nil
	stored, err := jsclient.Swap(ctx, sd.kv, messages.KeyDeletion(crawl), done.Encode(), e.Revision())
	if err != nil && !jsclient.IsConflict(err) {
		return fmt.Errorf("store deletion of crawl %s: %w", crawl, err)
	}
	if err == nil {
		sd.store(crawl, done.Encode(), stored)
	}
	return nil
}
