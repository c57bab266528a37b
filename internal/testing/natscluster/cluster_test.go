package natscluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, n int) (context.Context, *Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c, err := Start(ctx, t.TempDir(), n, Options{})
	check(t, err)
	t.Cleanup(c.Close)
	check(t, c.WaitReady(ctx))
	return ctx, c
}

func connect(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.PingInterval(500*time.Millisecond))
	check(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	check(t, err)
	return js
}

// leader waits until a stream has a leader other than the given node.
func leader(ctx context.Context, t *testing.T, js jetstream.JetStream, other string) string {
	t.Helper()
	for {
		s, err := js.Stream(ctx, "S")
		if err == nil {
			if l := s.CachedInfo().Cluster.Leader; l != "" && l != other {
				return l
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("no leader: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// publish stores each number up to n once, whatever happens to the cluster.
func publish(ctx context.Context, t *testing.T, js jetstream.JetStream, from, n int) {
	t.Helper()
	for i := from; i < n; {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := js.Publish(once, "s", fmt.Append(nil, i), jetstream.WithMsgID(fmt.Sprint(i)))
		cancel()
		if err == nil {
			i++
		} else if ctx.Err() != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
}

func TestStreamOutlivesTheLossOfItsLeader(t *testing.T) {
	t.Parallel() // mostly waits for elections
	ctx, c := start(t, 3)
	js := connect(t, c.URL())
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3})
	check(t, err)
	publish(ctx, t, js, 0, 10)
	for i, trouble := range []struct {
		begin, end func(*Node)
	}{
		{(*Node).Kill, func(n *Node) { check(t, n.Start()) }},
		{(*Node).Cut, (*Node).Heal},
	} {
		victim := c.Node(leader(ctx, t, js, ""))
		trouble.begin(victim)
		publish(ctx, t, js, 10+10*i, 20+10*i)
		if l := leader(ctx, t, js, victim.Name()); c.Node(l) == nil {
			t.Errorf("leader %q is none of the nodes", l)
		}
		trouble.end(victim)
		check(t, c.WaitReady(ctx))
	}
	// A leader that was cut off answers from its own state until it learns of the new leader.
	for n := uint64(0); n != 30; {
		if s, err := js.Stream(ctx, "S"); err == nil {
			n = s.CachedInfo().State.Msgs
		}
		if ctx.Err() != nil {
			t.Fatalf("%d messages, want 30", n)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if c.MetaLeader(ctx) == nil {
		t.Error("no node leads the cluster")
	}
}

// A cut node sends and receives nothing, and its clients see no error. After the link is restored,
// data in transit arrives.
func TestCutIsSilentAndHealBringsWhatWasSent(t *testing.T) {
	_, c := start(t, 1)
	n := c.Nodes()[0]
	nc, err := nats.Connect(n.URL(), nats.PingInterval(time.Hour))
	check(t, err)
	defer nc.Close()
	check(t, nc.Flush())
	n.Cut()
	if err := nc.FlushTimeout(300 * time.Millisecond); err == nil {
		t.Error("a node that is cut off answered")
	}
	if !nc.IsConnected() {
		t.Error("the client was told of the cut")
	}
	n.Heal()
	check(t, nc.FlushTimeout(10*time.Second))
	n.Delay(100 * time.Millisecond)
	began := time.Now()
	check(t, nc.FlushTimeout(10*time.Second))
	if d := time.Since(began); d < 200*time.Millisecond {
		t.Errorf("a round trip took %v, want at least the delay of both ways", d)
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	if _, err := Start(t.Context(), t.TempDir(), 0, Options{}); err == nil {
		t.Error("a cluster of no nodes was started")
	}
	if _, err := Start(t.Context(), t.TempDir(), 1, Options{Server: "/nonexistent/nats-server"}); err == nil {
		t.Error("a server that does not exist was started")
	}
	if _, err := Start(t.Context(), t.TempDir(), 1, Options{Server: "/bin/true"}); err == nil {
		t.Error("a program that ends at once was taken for a server")
	}
}
