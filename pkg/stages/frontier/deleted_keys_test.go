package frontier

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/frontier/state"
	"seine/internal/testing/natstest"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

func provisioned(t *testing.T) *stages.Bus {
	t.Helper()
	bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, natstest.Options(t))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	if err := bus.Provision(t.Context(), 1, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	return bus
}

func bucketOf(t *testing.T, bus *stages.Bus, name string) jetstream.KeyValue {
	t.Helper()
	kv, err := bus.JS.KeyValue(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// A frontier continues to answer commands after the spec of a crawl was deleted.
func TestDeletedSpecIsPausedAndTheNextQuestionAnswered(t *testing.T) {
	t.Parallel()
	bus := provisioned(t)
	specs, err := stages.OpenSpecs(t.Context(), bus)
	if err != nil {
		t.Fatal(err)
	}
	f := &Frontier{bus: bus, specs: specs, log: bus.Log}
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = f.serve(ctx) })
	defer serving.Wait()
	defer stop()
	client := frontierapi.Client{Bus: bus}
	set := func(crawl string, state crawlspec.RunState) (rev uint64, err error) {
		for err = frontierapi.ErrUnanswered; err != nil && ctx.Err() == nil; { // until it serves
			if rev, err = client.SetState(ctx, crawl, "", state); err != nil {
				t.Log(err)
				time.Sleep(10 * time.Millisecond)
			}
		}
		return rev, err
	}
	first, err := set("demo", crawlspec.Paused)
	if err != nil {
		t.Fatal(err)
	}
	kv := bucketOf(t, bus, messages.BucketCrawls)
	for _, remove := range []func(context.Context, string, ...jetstream.KVDeleteOpt) error{kv.Delete, kv.Purge} {
		if err := remove(ctx, "demo"); err != nil {
			t.Fatal(err)
		}
		rev, err := client.SetState(ctx, "demo", "", crawlspec.Paused)
		if err != nil || rev <= first {
			t.Fatalf("revision %d after %d: %v", rev, first, err)
		}
		if _, err := client.SetState(ctx, "other", "", crawlspec.Paused); err != nil {
			t.Errorf("another crawl: %v", err)
		}
	}
}

// A partition gets its share of a budget whose key was deleted.
func TestDeletedBudgetIsGrantedAnew(t *testing.T) {
	t.Parallel()
	bus := provisioned(t)
	kv := bucketOf(t, bus, messages.BucketMeta)
	b := &budgets{bus: bus, now: func() int64 { return time.Now().UnixNano() }}
	spec := crawlspec.Default()
	spec.MaxPages = 10
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, remove := range []func(context.Context, string, ...jetstream.KVDeleteOpt) error{kv.Delete, kv.Purge} {
		for range 2 {
			if q, err := b.reconcile(ctx, "c", 0, state.Usage{Pages: 4}, true, crawlspec.Revision{Spec: &spec}); err != nil || q.Pages != 10 {
				t.Fatalf("%d pages, %v", q.Pages, err)
			}
		}
		if err := remove(ctx, "budget.c"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.reconcile(ctx, "c", 0, state.Usage{}, true, crawlspec.Revision{Spec: &spec}); err != nil {
		t.Error(err)
	}
}
