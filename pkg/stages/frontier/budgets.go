package frontier

import (
	"context"
	"fmt"
	"strconv"

	"seine/internal/frontier/state"
	"seine/internal/streams/jsclient"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// budgets divide the limits of a crawl, max_pages, max_bytes and max_duration, among the
// partitions, whichever process owns them. A key for each crawl holds the grant of every partition;
// it changes by compare-and-set. A partition stays within its grant by its own durable count, so
// the limit holds over crashes and moves. It is met exactly in the end, because a partition returns
// the part of its grant that it no longer needs.
type budgets struct {
	bus *stages.Bus
	now func() int64
}

// reconcile reports the usage of a crawl's budgets in partition p. It requests more, or returns the
// part that p does not need.
func (b *budgets) reconcile(ctx context.Context, crawl string, p int, used state.Usage, more bool, spec crawlspec.Revision) (state.Grant, error) {
	key := messages.KeyBudget(messages.Incarnation(crawl, spec.Deletions()))
	var g state.Grant
	err := jsclient.RetryConflicts(ctx, func() error {
		var doc state.Budget
		rev, err := b.bus.ReadJSON(ctx, messages.BucketMeta, key, &doc)
		if err != nil {
			return err
		}
		if doc.StartedMS == 0 {
			doc.StartedMS = b.now() / 1e6
		}
		g = doc.Allot(strconv.Itoa(p), used, more, b.bus.Layout.Partitions, spec.Spec)
		_, err = b.bus.SwapKey(ctx, messages.BucketMeta, key, messages.Encode(&doc), rev)
		return err
	})
	if err != nil {
		return state.Grant{}, fmt.Errorf("store budget of crawl %s: %w", crawl, err)
	}
	return g, nil
}

// requestGrants requests budgets that run short, and returns idle ones.
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
