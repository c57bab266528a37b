package frontier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/internal/base/sleep"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/jsclient"
)

// budgets share what a crawl may take in all, max_pages, max_bytes and
// max_duration, between the partitions, whichever process owns them. A key for
// each crawl holds how much every partition has been granted; it changes by
// compare-and-set. A partition stays within its grant by its own durable count,
// so the limit holds over crashes and moves, and is met exactly in the end: a
// partition that has no more use for its grant gives back the rest.
type budgets struct {
	bus *stages.Bus
	now func() int64
}

// budgetDoc is the value of the key.
type budgetDoc struct {
	// Since is the revision of the deletion of the name that the crawl came after: the
	// budgets of a crawl that was deleted are nobody's.
	Since     uint64           `json:"since,omitempty"`
	StartedMS int64            `json:"started_ms"` // of the first request for a grant
	Pages     map[string]int64 `json:"pages,omitempty"`
	Bytes     map[string]int64 `json:"bytes,omitempty"`
}

// usage is what a partition has used, requests under way included.
type usage struct{ Pages, Bytes int64 }

// budgetWait is how long to wait after another partition was faster.
const budgetWait = 5 * time.Millisecond

// leastBytes is the smallest grant of bytes: about a page.
const leastBytes = 64 << 10

// reconcile tells what partition p has used of the budgets of a crawl, and gets it
// more, or gives back what it does not need.
func (b *budgets) reconcile(ctx context.Context, crawl string, p int, used usage, more bool, spec crawlspec.Revision) (quota, error) {
	kv, err := b.bus.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		return quota{}, fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
	}
	key := messages.KeyBudget(crawl)
	for {
		doc, rev, err := readBudget(ctx, kv, key)
		if err != nil {
			return quota{}, err
		}
		switch since := spec.Since(); {
		case doc.Since < since:
			doc = &budgetDoc{Since: since}
		case doc.Since > since: // the crawl was deleted
			return quota{over: true}, nil
		}
		if doc.StartedMS == 0 {
			doc.StartedMS = b.now() / 1e6
		}
		q := doc.allot(strconv.Itoa(p), used, more, b.bus.Layout.Partitions, spec.Spec)
		text, err := json.Marshal(doc)
		if err != nil {
			return quota{}, fmt.Errorf("encode budget: %w", err)
		}
		if _, err = jsclient.Swap(ctx, kv, key, text, rev); err == nil {
			return q, nil
		}
		if !jsclient.IsConflict(err) {
			return quota{}, fmt.Errorf("store budget of crawl %s: %w", crawl, err)
		}
		if err := sleep.For(ctx, budgetWait); err != nil { // what was read may be of a replica that is behind
			return quota{}, fmt.Errorf("store budget of crawl %s: %w", crawl, err)
		}
	}
}

func readBudget(ctx context.Context, kv jetstream.KeyValue, key string) (*budgetDoc, uint64, error) {
	doc := &budgetDoc{}
	e, err := kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return doc, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read budget: %w", err)
	}
	if err := jsontext.Unmarshal(e.Value(), doc); err != nil {
		return nil, 0, fmt.Errorf("read budget: %w", err)
	}
	return doc, e.Revision(), nil
}

// allot changes what a partition is granted, and returns it.
func (d *budgetDoc) allot(p string, used usage, more bool, partitions int, spec *crawlspec.Spec) quota {
	q := quota{started: d.StartedMS * int64(time.Millisecond)}
	share := func(grants *map[string]int64, limit, used, least int64) int64 {
		if limit == 0 {
			return 0
		}
		if *grants == nil {
			*grants = make(map[string]int64)
		}
		(*grants)[p] = used // the rest is free for all
		left := limit
		for _, n := range *grants {
			left -= n
		}
		if more {
			extra := budgetShare(left, partitions, least)
			(*grants)[p] += extra
			q.over = q.over || extra == 0
		}
		// A limit that was lowered may be exceeded by what is under way: what
		// of that turns out to be no page is not to be sent again.
		return (*grants)[p] + min(left, 0)
	}
	q.pages = share(&d.Pages, spec.MaxPages, used.Pages, 1)
	q.bytes = share(&d.Bytes, int64(spec.MaxBytes), used.Bytes, leastBytes)
	return q
}
