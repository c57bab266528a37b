package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unique"

	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// SpecHistory returns the revisions of specs, and replaces a spec only by its successor.
type SpecHistory struct{ *Specs }

// SpecRevision is a current or former spec of a crawl.
type SpecRevision struct {
	Rev  uint64
	Time time.Time // when the NATS server stored it
	Spec *crawlspec.Spec
	// Unusable is why the spec cannot be used, "" if it can; Spec is nil then.
	Unusable string
}

// Revisions returns the specs of a crawl that the bucket still has, the newest first: the last 16
// at most. It omits the specs of a deleted crawl with the same name.
func (h SpecHistory) Revisions(ctx context.Context, crawl string) ([]SpecRevision, error) {
	since, err := h.Deletions.at(ctx, crawl)
	if err != nil {
		return nil, err
	}
	subject := "$KV." + messages.BucketCrawls + "." + crawl
	var all []SpecRevision
	for m, err := range h.bus.EachFromLeader(ctx, "KV_"+messages.BucketCrawls, subject, since+1) {
		if err != nil {
			return nil, fmt.Errorf("read the history of the spec of crawl %s: %w", crawl, err)
		}
		if m.Deletes() {
			continue
		}
		r := SpecRevision{Rev: m.Seq, Time: m.Time}
		if r.Spec, err = h.decoded.decode(unique.Make(string(m.Data))); err != nil {
			r.Unusable = err.Error()
		}
		all = append(all, r)
	}
	slices.Reverse(all)
	return all, nil
}

// ErrRevision is returned for a change of a spec that has another revision by now.
var ErrRevision = errors.New("another change to the spec of the crawl came first")

// PutAt stores the spec of a crawl if the stored one has revision have, 0 for none. It stores
// nothing if the spec is unchanged. It returns the new revision, or ErrRevision if the stored spec
// has another revision.
func (h SpecHistory) PutAt(ctx context.Context, crawl string, spec *crawlspec.Spec, have uint64) (uint64, error) {
	text := spec.Encode()
	if err := crawlspec.CheckSize(text); err != nil {
		return 0, fmt.Errorf("store spec of crawl %s: %w", crawl, err)
	}
	stored, rev, err := h.bus.ReadKey(ctx, messages.BucketCrawls, crawl)
	if err != nil {
		return 0, err
	}
	since, err := h.Deletions.at(ctx, crawl)
	if err != nil {
		return 0, err
	}
	if now := rev; now != have && !(have == 0 && now <= since) {
		return 0, fmt.Errorf("%w: it is at revision %d, not %d", ErrRevision, now, have)
	}
	if have > 0 && string(stored) == string(text) {
		return rev, nil
	}
	rev, err = jsclient.Swap(ctx, h.kv, crawl, text, rev)
	if jsclient.IsConflict(err) {
		return 0, fmt.Errorf("%w: %w", ErrRevision, err)
	}
	if err != nil {
		return 0, fmt.Errorf("store spec of crawl %s: %w", crawl, err)
	}
	return rev, nil
}

// Replace stores the spec of a crawl in place of one that was read, and returns its revision. It
// returns ErrRevision if another usable spec was stored since.
func (h SpecHistory) Replace(ctx context.Context, crawl string, spec *crawlspec.Spec, read crawlspec.Revision) (uint64, error) {
	switch {
	case read.Unusable != "": // replaces the newest spec, which has another revision
		return h.Put(ctx, crawl, spec)
	case read.Rev == read.Since(): // the revision of a deletion
		return h.PutAt(ctx, crawl, spec, 0)
	}
	return h.PutAt(ctx, crawl, spec, read.Rev)
}
