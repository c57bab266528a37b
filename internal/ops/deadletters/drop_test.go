package deadletters

import (
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// publishLetters publishes dead letters of different messages and waits until all are stored.
func publishLetters(t testing.TB, bus *stages.Bus, all ...messages.Dead) {
	t.Helper()
	var acks []jetstream.PubAckFuture
	for i, d := range all {
		d.Stream, d.Subject, d.Sequence, d.Tries, d.Time = messages.StreamSeeds, messages.SubjectSeeds(d.Crawl), uint64(time.Now().UnixNano()), 1, time.Now()
		d.Part = i
		ack, err := bus.JS.PublishMsgAsync(d.Msg(), jetstream.WithStallWait(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		acks = append(acks, ack)
	}
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			t.Fatal(err)
		}
	}
}

// sequences returns the sequences of dead letters.
func sequences(letters []*DeadLetter) (seqs []uint64) {
	for _, l := range letters {
		seqs = append(seqs, l.Seq)
	}
	return seqs
}

// mixed returns dead letters of which each filter of the tests matches some.
func mixed() []messages.Dead {
	return []messages.Dead{
		{Stage: messages.StageFrontier, Crawl: "c", Reason: "no host"},
		{Stage: messages.StageParser, Crawl: "c", Reason: "no such filter", Payload: []byte(`{"url": "https://a.test/"}`)},
		{Stage: messages.StageFrontier, Crawl: "d", Reason: "no host"},
		{Stage: messages.StageParser, Crawl: "d", Reason: "No Host", Payload: []byte(`{"url": "https://b.test/"}`)},
		{Stage: messages.StageFrontier, Crawl: "c", Reason: "no host"},
	}
}

// chosen has filters, with the sequences of the letters in mixed that they match.
var chosen = map[string]struct {
	Filter
	seqs []uint64
}{
	"all":            {Filter{}, []uint64{1, 2, 3, 4, 5}},
	"stage":          {Filter{Stage: messages.StageParser}, []uint64{2, 4}},
	"crawl":          {Filter{Crawl: "c"}, []uint64{1, 2, 5}},
	"stage of crawl": {Filter{Stage: messages.StageFrontier, Crawl: "c"}, []uint64{1, 5}},
	"reason":         {Filter{Reason: "no host"}, []uint64{1, 3, 4, 5}},
	"host":           {Filter{Host: "a.test"}, []uint64{2}},
	"since":          {Filter{Since: time.Now().Add(-time.Hour)}, []uint64{1, 2, 3, 4, 5}},
	"none":           {Filter{Crawl: "e"}, nil},
	"none by reason": {Filter{Reason: "no port"}, nil},
	"none since":     {Filter{Since: time.Now().Add(time.Hour)}, nil},
}

func TestDropAll_Filter_ChosenAreRemoved(t *testing.T) {
	t.Parallel()
	_, bus := stagestest.Open(t)
	for name, tt := range chosen {
		if err := natstest.StreamOf(t, bus.JS, messages.StreamDead).Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := natstest.State(t, bus.JS, messages.StreamDead).LastSeq
		publishLetters(t, bus, mixed()...)
		n, err := DropAll(t.Context(), bus, tt.Filter)
		if err != nil || n != len(tt.seqs) {
			t.Errorf("%s: %d letters are removed, %v; want %d", name, n, err, len(tt.seqs))
		}
		left, err := Last(t.Context(), bus, Filter{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, seq := range sequences(left) {
			if slices.Contains(tt.seqs, seq-before) {
				t.Errorf("%s: letter %d is left", name, seq-before)
			}
		}
		if len(left)+n != len(mixed()) {
			t.Errorf("%s: %d letters are left of %d", name, len(left), len(mixed()))
		}
	}
}

// Dead letters that arrive during a removal stay.
func TestPurge_LaterLetters_Stay(t *testing.T) {
	t.Parallel()
	_, bus := stagestest.Open(t)
	for _, f := range []Filter{{}, {Crawl: "c"}} {
		publishLetters(t, bus, mixed()...)
		last := natstest.State(t, bus.JS, messages.StreamDead).LastSeq
		publishLetters(t, bus, mixed()...)
		if _, err := purge(t.Context(), bus, f, last); err != nil {
			t.Fatal(err)
		}
		left, err := Last(t.Context(), bus, f, 0)
		if err != nil || len(left) == 0 || left[0].Seq <= last || left[len(left)-1].Seq != last+uint64(len(mixed())) {
			t.Errorf("%+v: of those to %d are left %d, %v", f, last, sequences(left), err)
		}
	}
}

func TestLast_Filter_NewestInOrder(t *testing.T) {
	t.Parallel()
	_, bus := stagestest.Open(t)
	publishLetters(t, bus, mixed()...)
	for name, tt := range chosen {
		for most := range len(mixed()) + 2 {
			want := tt.seqs
			if most > 0 {
				want = want[max(0, len(want)-most):]
			}
			letters, err := Last(t.Context(), bus, tt.Filter, most)
			if err != nil || !slices.Equal(sequences(letters), want) {
				t.Errorf("%s, %d at most: %d, %v; want %d", name, most, sequences(letters), err, want)
			}
		}
	}
}

// Dead letters far from the end of DEAD are found.
func TestLast_ManyOthersBehind_Found(t *testing.T) {
	t.Parallel()
	_, bus := stagestest.Open(t)
	publishLetters(t, bus, mixed()...)
	others := make([]messages.Dead, pageWindow*pageWindows+1)
	for i := range others {
		others[i] = messages.Dead{Stage: messages.StageFetcher, Crawl: "c", Reason: "other"}
	}
	publishLetters(t, bus, others...)
	for _, tt := range []struct {
		Filter
		want []uint64
	}{{Filter{Reason: "no host"}, []uint64{3, 4, 5}}, {Filter{Stage: messages.StageFrontier}, []uint64{1, 3, 5}}, {Filter{Crawl: "d"}, []uint64{3, 4}}} {
		letters, err := Last(t.Context(), bus, tt.Filter, 3)
		if err != nil || !slices.Equal(sequences(letters), tt.want) {
			t.Errorf("%+v: %d, %v; want %d", tt.Filter, sequences(letters), err, tt.want)
		}
	}
}
