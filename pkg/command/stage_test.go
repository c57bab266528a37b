package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A poison message goes to DEAD alone, without the rest of its batch. Any other error fails the
// whole batch.
func TestStageHandlesEachMessageOfABatch(t *testing.T) {
	t.Parallel()
	var all []*nats.Msg
	for i := range 3 {
		all = append(all, messages.RecordMsg("shop", 1, fmt.Sprint("shop.", i), fmt.Appendf(nil, `{"n":%d}`, i)))
	}
	batch := messages.JoinBatch(all)
	var failure error
	c := StageConfig{Name: "titles", Handle: func(_ context.Context, m *stages.Message) ([]*nats.Msg, error) {
		if string(m.Data) == `{"n":1}` {
			return nil, failure
		}
		return []*nats.Msg{{Subject: "out", Data: m.Data}}, nil
	}}
	handle := func() ([]string, error) {
		out, err := c.split(t.Context(), &stages.Message{Subject: batch.Subject, Header: batch.Header, Data: batch.Data, Stream: messages.StreamRecords, Sequence: 7})
		var got []string
		for _, m := range out.First {
			got = append(got, m.Subject+" "+string(m.Data)+" "+m.Header.Get(messages.HeaderDeadID))
		}
		return got, err
	}
	failure = errors.New("away")
	if got, err := handle(); !errors.Is(err, failure) || len(got) > 0 {
		t.Errorf("%q, %v: want the error", got, err)
	}
	failure = stages.PoisonError(failure)
	want := []string{`out {"n":0} `, `seine.dead.titles.shop {"n":1} shop.1`, `out {"n":2} `}
	if got, err := handle(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v: want %q", got, err, want)
	}
}
