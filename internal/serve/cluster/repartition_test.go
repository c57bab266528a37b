package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"seine/internal/ops/overview"
	"seine/internal/run/connect"
	"seine/internal/serve/cluster"
	"seine/internal/testing/await"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A server that goes on over a repartition asks all partitions that there are then, and says so while they are being changed.
func TestClusterNoticesARepartition(t *testing.T) {
	broker, bus := stagestest.Open(t)
	c := cluster.New(connect.Operator{Options: connect.Options{NATS: broker.URL()}}, slog.New(slog.DiscardHandler))
	t.Cleanup(c.Close)
	partitions := func() (n int, err error) {
		err = c.Do(t.Context(), func(_ context.Context, bus *stages.Bus) error {
			n = bus.Layout.Partitions
			return nil
		})
		return n, err
	}
	was, err := partitions()
	if err != nil || was != bus.Layout.Partitions {
		t.Fatal(was, err)
	}
	kv, err := bus.JS.KeyValue(t.Context(), messages.BucketMeta)
	if err != nil {
		t.Fatal(err)
	}
	put := func(l messages.Layout) {
		if _, err := kv.Put(t.Context(), messages.KeyLayout, messages.Encode(l)); err != nil {
			t.Fatal(err)
		}
	}
	now := bus.Layout
	now.Moving = 2 * was
	put(now)
	await.Eventually(t, "requests are refused while the number is changed", func() bool {
		_, err := partitions()
		return errors.Is(err, cluster.ErrAway)
	})
	now.Moving, now.Partitions, now.Widest = 0, 2*was, 2*was
	put(now)
	await.Eventually(t, "the new number is used", func() bool {
		n, err := partitions()
		return err == nil && n == 2*was
	})
	// What connected before and does not join again refuses to count by the former number.
	reader := overview.Reader{Bus: bus}
	if _, err := reader.Read(t.Context()); !errors.Is(err, stages.ErrLayout) {
		t.Errorf("an overview by the former number of partitions: %v", err)
	}
}
