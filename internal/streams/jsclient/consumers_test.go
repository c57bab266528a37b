package jsclient_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
)

// The server lists 256 at a time.
func TestConsumersAreListedPageByPage(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	const n = 300
	for i := range n {
		config := jetstream.ConsumerConfig{Durable: fmt.Sprint("c", i), AckPolicy: jetstream.AckExplicitPolicy}
		if _, err := b.JS.CreateConsumer(t.Context(), messages.StreamURLs, config); err != nil {
			t.Fatal(err)
		}
	}
	all, err := b.Consumers(t.Context(), messages.StreamURLs)
	names := make(map[string]bool)
	for _, c := range all {
		names[c.Config.Durable] = true
	}
	if err != nil || len(names) != n {
		t.Errorf("%d of %d are listed, %v", len(names), n, err)
	}
	if all, err := b.Consumers(t.Context(), messages.StreamPages); err != nil || len(all) > 0 {
		t.Errorf("of a stream without any: %d, %v", len(all), err)
	}
	if _, err := b.Consumers(t.Context(), "NONE"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("of a stream that there is not: %v", err)
	}
}
