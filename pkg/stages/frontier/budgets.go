package frontier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/base/jsontext"
	"seine/internal/frontier/state"
	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
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

// reconcile reports what partition p has used of the budgets of a crawl. It asks for
// more, or gives back what p does not need.
func (b *budgets) reconcile(ctx context.Context, crawl string, p int, used state.Usage, more bool, spec crawlspec.Revision) (state.Grant, error) {
	kv, err := b.bus.JS.KeyValue(ctx, messages.BucketMeta)
	if err != nil {
		return state.Grant{}, fmt.Errorf("open bucket %s: %w", messages.BucketMeta, err)
	}
	key := messages.KeyBudget(messages.Incarnation(crawl, spec.Deletions()))
	var g state.Grant
	err = jsclient.RetryConflicts(ctx, func() error {
		doc, rev, err := readBudget(ctx, kv, key)
		if err != nil {
			return err
		}
		if doc.StartedMS == 0 {
			doc.StartedMS = b.now() / 1e6
		}
		g = doc.Allot(strconv.Itoa(p), used, more, b.bus.Layout.Partitions, spec.Spec)
		text, err := json.Marshal(doc)
		if err != nil {
			return fmt.Errorf("encode budget: %w", err)
		}
		_, err = jsclient.Swap(ctx, kv, key, text, rev)
		return err
	})
	if err != nil {
		return state.Grant{}, fmt.Errorf("store budget of crawl %s: %w", crawl, err)
	}
	return g, nil
}

func readBudget(ctx context.Context, kv jetstream.KeyValue, key string) (*state.Budget, uint64, error) {
	doc := &state.Budget{}
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

// requestGrants asks for budgets that are short, and gives back what is idle.
func (p *partitionLoop) requestGrants(ctx context.Context) {
	for _, ask := range p.state.Budgets.Due() {
		p.saver.tasks.Go(func() {
			g, err := p.f.budgets.reconcile(ctx, ask.Crawl, p.partition, ask.Used, ask.More, ask.Spec)
			select {
			case p.grants <- &state.BudgetAnswer{BudgetRequest: ask, Grant: g, Err: err}:
			case <-ctx.Done():
			}
		})
	}
}
