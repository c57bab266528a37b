package doctor

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
)

// Leases are renewed while they are listed. nats.go's own listing of keys, a watch, then misses
// some.
func TestLeaseThatIsRenewedHasAnOwner(t *testing.T) {
	bus, _ := stagestest.Dial(t, natstest.NewBroker(t).URL())
	bus.Layout.Partitions = 16
	kv, err := bus.JS.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: messages.BucketLeases})
	check(t, err)
	found, err := owners(t.Context(), bus)
	check(t, err)
	if len(found) != 1 || found[0].Level != Fail || found[0].What != "frontier: no frontier owns partition 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15" {
		t.Errorf("of no leases: %+v", found)
	}
	renew := func() error {
		for p := range bus.Layout.Partitions {
			if _, err := kv.Put(t.Context(), fmt.Sprint("lease.frontier.", p), []byte(`{"owner":"a"}`)); err != nil {
				return err
			}
		}
		return nil
	}
	check(t, renew())
	ctx, stop := context.WithCancel(t.Context())
	var renewing sync.WaitGroup
	defer renewing.Wait()
	defer stop()
	renewing.Go(func() {
		for ctx.Err() == nil {
			if err := renew(); err != nil {
				t.Error(err)
			}
		}
	})
	for range 40 {
		found, err := owners(t.Context(), bus)
		check(t, err)
		if len(found) != 1 || found[0].Level != OK || found[0].What != "frontier: all 16 have an owner" {
			t.Fatalf("found %+v", found)
		}
	}
}
