package stages

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/await"
	"seine/pkg/messages"
)

// A stage that starts while the cluster has no leader, or no server at all, continues when there is
// one again.
func TestStageThatBeginsWaitsForItsBuckets(t *testing.T) {
	t.Parallel()
	br, b := open(t)
	restart := func(withJetStream bool) {
		br.Stop()
		await.Eventually(t, "the connection is lost", func() bool { return !b.NC.IsConnected() })
		br.Opts.JetStream = withJetStream
		br.Start()
		await.Eventually(t, "the connection is back", b.NC.IsConnected)
	}
	restart(false)
	opened := make(chan error, 1)
	go func() {
		_, err := b.Bucket(t.Context(), messages.BucketLeases)
		opened <- err
	}()
	await.Always(t, 300*time.Millisecond, "it waits", func() bool { return len(opened) == 0 })
	restart(true)
	if err := <-opened; err != nil {
		t.Errorf("with the server back: %v", err)
	}
	if _, err := b.Bucket(t.Context(), "nonesuch"); !errors.Is(err, jetstream.ErrBucketNotFound) {
		t.Errorf("of a bucket that is not there: %v", err)
	}
}
