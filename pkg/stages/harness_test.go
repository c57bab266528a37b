package stages

import (
	"testing"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/pkg/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial connects a Bus for the test, and prints its log if the test fails.
func dial(t *testing.T, url string) (*Bus, *await.Log) {
	t.Helper()
	j := new(await.Log)
	b, err := Dial(url, t.Name(), j.Logger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Close()
		if t.Failed() {
			t.Logf("log:\n%s", j)
		}
	})
	return b, j
}

// open starts a broker with the streams of Seine and four partitions.
func open(t *testing.T) (*natstest.Broker, *Bus) {
	t.Helper()
	br := natstest.NewBroker(t)
	b, _ := dial(t, br.URL())
	if err := b.Provision(t.Context(), 4, messages.DefaultStreamLimits(), 1); err != nil {
		t.Fatal(err)
	}
	return br, b
}

func msg(subject, id, data string) *nats.Msg {
	m := nats.NewMsg(subject)
	if id != "" {
		m.Header.Set(nats.MsgIdHdr, id)
	}
	m.Data = []byte(data)
	return m
}
