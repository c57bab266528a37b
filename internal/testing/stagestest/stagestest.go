// Package stagestest connects tests of packages above stages to a NATS server with Seine's streams.
package stagestest

import (
	"testing"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// Dial returns a Bus for the test. It prints the log if the test fails.
func Dial(t *testing.T, url string) (*stages.Bus, *await.Log) {
	t.Helper()
	log := new(await.Log)
	b, err := stages.Dial(url, t.Name(), log.Logger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Close()
		if t.Failed() {
			t.Logf("log:\n%s", log)
		}
	})
	return b, log
}

// Open starts a broker with Seine's streams and four partitions.
func Open(t *testing.T) (*natstest.Broker, *stages.Bus) {
	t.Helper()
	br := natstest.NewBroker(t)
	b, _ := Dial(t, br.URL())
	if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	return br, b
}

// ProvisionSnapshots creates the snapshots bucket of b with a limit in bytes.
func ProvisionSnapshots(t *testing.T, b *stages.Bus, limit int64) {
	t.Helper()
	limits := messages.DefaultStreamLimits()
	limits.SnapshotsBytes = limit
	if err := b.Provision(t.Context(), b.Layout.Partitions, limits, 1); err != nil {
		t.Fatal(err)
	}
}
