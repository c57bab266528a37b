package frontierapi

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A frontier receives queries before it has acquired its partitions, and does not answer them: a
// client must neither wait for long nor stop asking.
func TestQuestionIsAskedAgainUntilAnswered(t *testing.T) {
	bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, natstest.Options(t))))
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	bus.Layout = messages.Layout{Partitions: 1}
	var answer PartitionStatus
	answer.Counters.Done = 3
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var heard atomic.Int32
	if _, err := bus.NC.Subscribe(messages.SubjectFrontier(OpStatus, 0), func(m *nats.Msg) {
		if heard.Add(1) > 2 {
			_ = m.Respond(text) // a client that is gone does not wait
		}
	}); err != nil {
		t.Fatal(err)
	}
	c := Client{Bus: bus}
	got, err := c.Status(t.Context(), "c")
	if err != nil || got.Done != 3 || heard.Load() != 3 {
		t.Errorf("%+v, %v, asked %d times", got, err, heard.Load())
	}
}

// Crawls with work left in any partition are returned.
func TestCrawlsThatGoOnAreThoseOfAllPartitions(t *testing.T) {
	bus, err := stages.Dial("", "test", slog.New(slog.DiscardHandler), nats.InProcessServer(natstest.Start(t, natstest.Options(t))))
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	bus.Layout = messages.Layout{Partitions: 2}
	for p, names := range [][]string{{"a", "c"}, {"b", "c"}} {
		if _, err := bus.NC.Subscribe(messages.SubjectFrontier(OpStatus, p), func(m *nats.Msg) {
			answer := PartitionStatus{Partition: p}
			var asked Query
			if json.Unmarshal(m.Data, &asked) == nil && asked.Awake {
				answer.Awake = &AwakeCrawls{Names: names}
			}
			if text, err := json.Marshal(answer); err == nil {
				_ = m.Respond(text)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	c := Client{Bus: bus}
	if got, err := c.Awake(t.Context()); err != nil || !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%v, %v", got, err)
	}
}
