package jsclient_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/streams/jsclient"
	"seine/internal/testing/await"
	"seine/internal/testing/natstest"
	"seine/internal/testing/stagestest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// openPull creates a consumer that redelivers only after an hour.
func openPull(t *testing.T) (*stages.Bus, *jsclient.Puller, jetstream.Consumer) {
	t.Helper()
	_, b := stagestest.Open(t)
	config := messages.WorkConsumer(messages.ConsumerParse, "", 1000)
	config.AckWait = time.Hour
	c, err := b.JS.CreateOrUpdateConsumer(t.Context(), messages.StreamPages, config)
	if err != nil {
		t.Fatal(err)
	}
	return b, jsclient.NewPuller(&b.Client, c.CachedInfo()), c
}

func TestPullGivesWhatThereIs(t *testing.T) {
	t.Parallel()
	b, p, _ := openPull(t)
	natstest.Send(t, b.JS, "seine.pages.c.0", 7)
	var got []string
	take := func(m *nats.Msg) { got = append(got, string(m.Data)) }
	for range 2 {
		if err := p.Pull(t.Context(), jsclient.Batch{Messages: 3}, take); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := p.Pull(ctx, jsclient.Batch{Messages: 3}, func(m *nats.Msg) { take(m); cancel() })
	if err != nil || len(got) != 7 || got[0] != "0" || got[6] != "6" {
		t.Errorf("got %q, %v", got, err)
	}
}

// All received messages are taken. Otherwise they would be redelivered only after AckWait.
func TestPullThatIsBrokenOffDropsNothing(t *testing.T) {
	t.Parallel()
	const n = 50
	b, p, _ := openPull(t)
	natstest.Send(t, b.JS, "seine.pages.c.0", n)
	ctx, cancel := context.WithCancel(t.Context())
	got, before := 0, b.NC.Stats().InMsgs
	err := p.Pull(ctx, jsclient.Batch{Messages: 2 * n}, func(*nats.Msg) {
		if got++; got == 1 {
			cancel()
			await.Eventually(t, "all have come", func() bool { return b.NC.Stats().InMsgs >= before+n })
		}
	})
	if err != nil || got != n {
		t.Errorf("%d of %d came, %v", got, n, err)
	}
}

func TestPullThatIsBrokenOffLeavesNoRequest(t *testing.T) {
	t.Parallel()
	b, p, c := openPull(t)
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		asked := make(chan error)
		go func() {
			asked <- p.Pull(ctx, jsclient.Batch{Messages: 5}, func(m *nats.Msg) { t.Errorf("got %s of nothing", m.Data) })
		}()
		await.Eventually(t, "the request is there", func() bool {
			return natstest.ConsumerInfo(t, b.JS, messages.StreamPages, messages.ConsumerParse).NumWaiting > 0
		})
		cancel()
		if err := <-asked; err != nil {
			t.Fatal(err)
		}
		natstest.Send(t, b.JS, "seine.pages.c.0", 1)
		m, err := c.Next(jetstream.FetchMaxWait(await.Patience))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.DoubleAck(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPullTellsThatNobodyServes(t *testing.T) {
	t.Parallel()
	b, p, _ := openPull(t)
	if err := b.JS.DeleteConsumer(t.Context(), messages.StreamPages, messages.ConsumerParse); err != nil {
		t.Fatal(err)
	}
	if err := p.Pull(t.Context(), jsclient.Batch{Messages: 1}, nil); err == nil {
		t.Error("pulled from a consumer that is not there")
	}
}

// A request whose last message fills its bytes exactly has ended, though the server does not say
// so.
func TestPullThatIsFilledExactlyIsOver(t *testing.T) {
	t.Parallel()
	b, p, _ := openPull(t)
	natstest.Send(t, b.JS, "seine.pages.c.0", 2)
	var sizes []int
	asked := make(chan error, 1)
	pull := func(bytes int) error {
		return p.Pull(t.Context(), jsclient.Batch{Messages: 10, Bytes: bytes}, func(m *nats.Msg) {
			sizes = append(sizes, m.Size())
			if err := m.Nak(); err != nil { // it is redelivered with the same size
				asked <- err
			}
		})
	}
	if err := p.Pull(t.Context(), jsclient.Batch{Messages: 2}, func(m *nats.Msg) { sizes = append(sizes, m.Size()); _ = m.Nak() }); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range 3 {
		if err := pull(sizes[0]); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > 6*time.Second { // a request that waits for a message takes as long or longer: only its time shows that
		t.Errorf("three requests took %s, want none to wait for a message that cannot come", took)
	}
	if len(sizes) != 5 || sizes[0] != sizes[4] {
		t.Errorf("messages of %v bytes came", sizes)
	}
	select {
	case err := <-asked:
		t.Error(err)
	default:
	}
}

// In a cluster the status that ends a request overtakes messages sent before it.
func TestPullTakesWhatTheEndOfItsRequestHasOvertaken(t *testing.T) {
	t.Parallel()
	for end, notSent := range map[string]string{"Message Size Exceeds MaxBytes": "3", "Batch Completed": "0"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			_, b := stagestest.Open(t)
			answer := func(m *nats.Msg) {
				last := nats.NewMsg(m.Reply)
				last.Header = nats.Header{"Status": {"409"}, "Description": {end}, "Nats-Pending-Messages": {notSent}}
				for i, m := range []*nats.Msg{{Subject: m.Reply, Reply: "ack", Data: []byte("0")}, last, {Subject: m.Reply, Reply: "ack", Data: []byte("1")}} {
					if err := b.NC.PublishMsg(m); err != nil {
						t.Errorf("answer %d: %v", i, err)
					}
				}
			}
			if _, err := b.NC.Subscribe("$JS.API.CONSUMER.MSG.NEXT.OTHER.c", answer); err != nil {
				t.Fatal(err)
			}
			n, err := strconv.Atoi(notSent)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			puller := jsclient.NewPuller(&b.Client, &jetstream.ConsumerInfo{Stream: "OTHER", Name: "c"})
			err = puller.Pull(t.Context(), jsclient.Batch{Messages: 2 + n, Bytes: 1 << 20}, func(m *nats.Msg) { got = append(got, string(m.Data)) })
			if err != nil || len(got) != 2 || got[1] != "1" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
