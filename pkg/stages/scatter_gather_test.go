package stages

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"seine/internal/testing/natstest"
)

// A first answer may take longer than the silence after it, so that a process on a busy machine
// does not count as missing. Without a listener the query ends at once.
func TestFirstAnswerMayBeSlow(t *testing.T) {
	t.Parallel()
	nc, err := nats.Connect(natstest.NewBroker(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	_, err = nc.Subscribe("slow", func(m *nats.Msg) {
		time.Sleep(2 * gatherSilence)
		_ = m.Respond([]byte("here"))
	})
	if err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[string]int{"slow": 1, "nobody": 0} {
		n := 0
		if err := ScatterGather(t.Context(), nc, subject, nil, func([]byte) { n++ }); err != nil || n != want {
			t.Errorf("%s: %d answers, %v, want %d", subject, n, err, want)
		}
	}
}
