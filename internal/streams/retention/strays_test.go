package retention

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
)

// strays are subjects that the streams accept but no consumer of Seine reads, in a layout of four
// partitions.
var strays = map[string][]string{
	messages.StreamSeeds:   {"seine.seeds.>"},
	messages.StreamURLs:    {"seine.urls.default.99", "seine.urls.default.4", "seine.seeded.default.x", "seine.redirects.default.010", "seine.urls.default.-1", "seine.urls.default.*", "seine.urls.default.>"},
	messages.StreamResults: {"seine.results.default.99", "seine.results.default.x", "seine.results.default.+1"},
	messages.StreamRecords: {"seine.records.default.99", "seine.records.default.00"},
}

// A message that the server acknowledges and nobody reads is moved from its stream to DEAD, once.
// Messages with readers stay.
func TestStrays_EndInDead(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	want := make(map[string]bool)
	for _, subjects := range strays {
		for _, subject := range subjects {
			m := nats.NewMsg(subject)
			m.Data = []byte("of " + subject)
			m.Header.Set("Own", "header")
			for range 2 {
				if _, err := b.JS.PublishMsg(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
			want[subject] = true
		}
	}
	read := map[string]string{
		messages.StreamSeeds: messages.SubjectSeeds("default"), messages.StreamURLs: messages.SubjectURLs(messages.SourceLink, "default", 3),
		messages.StreamResults: messages.SubjectResults("default", 0), messages.StreamRecords: messages.SubjectRecords("default", 1),
	}
	for _, subject := range read {
		natstest.Send(t, b.JS, subject, 1)
	}
	j := NewJanitor(b)
	for stream := range strays {
		for range 2 { // the second time there are none
			if err := j.moveStrays(t.Context(), stream); err != nil {
				t.Fatal(err)
			}
		}
		if n := natstest.State(t, b.JS, stream).Msgs; n != 1 {
			t.Errorf("%s has %d messages, want the one that is read", stream, n)
		}
	}
	dead := natstest.StreamOf(t, b.JS, messages.StreamDead)
	got := make(map[string]int)
	for seq := uint64(1); seq <= dead.CachedInfo().State.LastSeq; seq++ {
		m, err := dead.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		subject := m.Header.Get(messages.HeaderDeadSubject)
		got[subject]++
		if string(m.Data) != "of "+subject || m.Header.Get("Own") != "header" || !strings.Contains(m.Header.Get(messages.HeaderDeadReason), "no consumer reads "+subject) {
			t.Errorf("letter of %s: %q, %v", subject, m.Data, m.Header)
		}
	}
	for subject := range want {
		if got[subject] != 2 {
			t.Errorf("%d letters of %s, want 2", got[subject], subject)
		}
	}
}

// Stray messages are in DEAD before the janitor purges them.
func TestStrays_MovedBeforeTheyArePurged(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	natstest.Send(t, b.JS, "seine.urls.c.99", 3)
	natstest.Send(t, b.JS, messages.SubjectURLs(messages.SourceLink, "c", 0), 20)
	consumer := partitionConsumer(t, b, 0)
	read(t, consumer, 20)
	clean(t, janitorOf(b, 1))
	if n := natstest.State(t, b.JS, messages.StreamDead).Msgs; n != 3 {
		t.Errorf("%d dead letters, want 3", n)
	}
	if first := natstest.State(t, b.JS, messages.StreamURLs).FirstSeq; first <= 3 {
		t.Errorf("nothing was purged: the first message is %d", first)
	}
}

// A dead letter of a re-created stream is not confused with one of the former stream, though the
// sequences are equal.
func TestStrays_OfAStreamThatWasCreatedAgain(t *testing.T) {
	t.Parallel()
	_, b := stagestest.Open(t)
	for life := range 2 {
		if _, err := b.JS.Publish(t.Context(), "seine.urls.c.99", fmt.Append(nil, life)); err != nil {
			t.Fatal(err)
		}
		if err := NewJanitor(b).moveStrays(t.Context(), messages.StreamURLs); err != nil {
			t.Fatal(err)
		}
		if n := natstest.State(t, b.JS, messages.StreamDead).Msgs; n != uint64(life+1) {
			t.Errorf("%d dead letters, want %d", n, life+1)
		}
		config := natstest.StreamOf(t, b.JS, messages.StreamURLs).CachedInfo().Config
		if err := b.JS.DeleteStream(t.Context(), messages.StreamURLs); err != nil {
			t.Fatal(err)
		}
		if _, err := b.JS.CreateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
}
