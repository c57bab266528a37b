package natstest

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"seine/pkg/messages"
)

// Limit limits a stream to n messages.
func Limit(t *testing.T, js jetstream.JetStream, stream string, n int64) {
	t.Helper()
	s := StreamOf(t, js, stream)
	c := s.CachedInfo().Config
	c.MaxMsgs = n
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// StreamOf returns a stream with its current info.
func StreamOf(t testing.TB, js jetstream.JetStream, name string) jetstream.Stream {
	t.Helper()
	s, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// State returns the current state of a stream.
func State(t testing.TB, js jetstream.JetStream, stream string) jetstream.StreamState {
	t.Helper()
	return StreamOf(t, js, stream).CachedInfo().State
}

// ConsumerInfo returns the current info of a consumer.
func ConsumerInfo(t *testing.T, js jetstream.JetStream, stream, name string) *jetstream.ConsumerInfo {
	t.Helper()
	c, err := js.Consumer(t.Context(), stream, name)
	if err != nil {
		t.Fatal(err)
	}
	return c.CachedInfo()
}

// Stored returns the payloads of the messages in a stream, oldest first. Batches are split into
// their messages.
func Stored(t *testing.T, js jetstream.JetStream, stream string) []string {
	t.Helper()
	s := StreamOf(t, js, stream)
	st := s.CachedInfo().State
	var all []string
	for seq := st.FirstSeq; seq <= st.LastSeq && st.Msgs > 0; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := messages.SplitBatch(m.Header, m.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			all = append(all, string(part.Data))
		}
	}
	return all
}

// Send publishes n messages with the payloads "0", "1", … to subject.
func Send(t *testing.T, js jetstream.JetStream, subject string, n int) {
	t.Helper()
	for i := range n {
		if _, err := js.Publish(t.Context(), subject, fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
}
