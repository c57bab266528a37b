//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"seine/bench/netns"
	"seine/internal/base/sleep"
)

// fault is a kind of trouble with the network or with a machine.
type fault struct {
	kind  string
	among func(layout) []string // machines, one of which it is about; nil: it is about all
	do    func(ctx context.Context, t *testbed, victim string, d draw)
}

// draw are the numbers that a fault may use: from 0 up to 1.
type draw struct{ length, which, a float64 }

// Lengths of faults: leases last 10 s, messages 15 s, elections take 4 to 9 s.
const (
	shortest = 4 * time.Second
	longest  = 25 * time.Second
)

func (d draw) duration() time.Duration {
	return shortest + time.Duration(d.length*float64(longest-shortest))
}

// Links that are bad.
const (
	slowDelay  = 100 * time.Millisecond
	slowRate   = 1_000_000 // bit/s
	leastLoss  = 0.02
	mostLoss   = 0.05
	farDelay   = 40 * time.Millisecond
	everywhere = "all machines"
)

func anyMachine(l layout) []string    { return append(l.withBroker(true), l.withBroker(false)...) }
func withBroker(l layout) []string    { return l.withBroker(true) }
func withoutBroker(l layout) []string { return l.withBroker(false) }

// kinds are all faults.
var kinds = []fault{
	{"cut machine", anyMachine, cutMachine},
	{"cut machine, only what it sends", anyMachine, cutSending},
	{"cut machine, only what it gets", anyMachine, cutReceiving},
	{"cut broker", withBroker, cutBroker},
	{"cut between machines with brokers", withBroker, cutPeers},
	{"cut from the web", anyMachine, cutWeb},
	{"cut from S3", anyMachine, cutS3},
	{"slow machine", anyMachine, slowMachine},
	{"lossy machine", anyMachine, lossyMachine},
	{"lossy network", nil, lossyNetwork},
	{"far apart", nil, farApart},
	{"lose machine with broker", withBroker, loseMachine},
	{"lose machine without broker", withoutBroker, loseMachine},
}

// kindsLike are those that begin so.
func kindsLike(only string) (some []fault, err error) {
	for _, f := range kinds {
		if strings.HasPrefix(f.kind, only) {
			some = append(some, f)
		}
	}
	if len(some) > 0 {
		return some, nil
	}
	var names []string
	for _, f := range kinds {
		names = append(names, f.kind)
	}
	return nil, fmt.Errorf("-only %q: there are: %s", only, strings.Join(names, "; "))
}

// turn is a fault that comes, and about whom.
type turn struct {
	fault
	victim string
	draw
	pause time.Duration // before it
}

// deck is all faults in an order that follows from the seed: each kind once before any comes again.
func deck(l layout, some []fault, rounds int, seed uint64) (turns []turn) {
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // meant to be repeated
	for range rounds {
		for _, i := range rng.Perm(len(some)) {
			t := turn{fault: some[i], victim: everywhere, draw: draw{rng.Float64(), rng.Float64(), rng.Float64()}}
			t.pause = time.Second + time.Duration(rng.Float64()*float64(4*time.Second))
			if t.among != nil {
				among := t.among(l)
				t.victim = among[int(t.which*float64(len(among)))]
			}
			turns = append(turns, t)
		}
	}
	return turns
}

// settleTime is how long the brokers may take to have all again when a fault is over.
const settleTime = 90 * time.Second

// inject makes one fault after the other. The next one comes when the brokers have settled: a cluster of three bears the loss of
// one at a time.
func inject(ctx context.Context, t *testbed, turns []turn) {
	for _, f := range turns {
		if sleep.For(ctx, f.pause) != nil {
			return
		}
		over := t.tell.Begin(f.kind, fmt.Sprintf("%s for %s", f.victim, f.duration().Round(100*time.Millisecond)))
		f.do(ctx, t, f.victim, f.draw)
		over()
		t.settle(ctx)
	}
}

// settle waits until the brokers are well again.
func (t *testbed) settle(ctx context.Context) {
	began := time.Now()
	for ctx.Err() == nil {
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := t.healthy(once)
		cancel()
		passed := time.Since(began)
		if err == nil {
			t.tell.Note("the brokers are well after %s", passed.Round(100*time.Millisecond))
			return
		}
		if passed > settleTime {
			t.tell.Violation("the brokers are not well %s after the end of a fault: %v", settleTime, err)
			return
		}
		_ = sleep.For(ctx, 200*time.Millisecond)
	}
}

// under has the links from some hosts to others go by a condition for a while. Each pair is a link.
func (t *testbed) under(ctx context.Context, c netns.Condition, d draw, pairs [][2]*netns.Host) {
	for _, p := range pairs {
		t.network.Set(p[0], p[1], c)
	}
	_ = sleep.For(ctx, d.duration())
	for _, p := range pairs {
		t.network.Set(p[0], p[1], netns.Condition{})
	}
}

// from are the links of a host to all others, to are those of all others to it.
func (t *testbed) from(victim string) (pairs [][2]*netns.Host) {
	h := t.hosts[victim]
	for _, other := range t.network.Others(h) {
		pairs = append(pairs, [2]*netns.Host{h, other})
	}
	return pairs
}

func (t *testbed) to(victim string) (pairs [][2]*netns.Host) { return turned(t.from(victim)) }

func turned(pairs [][2]*netns.Host) (back [][2]*netns.Host) {
	for _, p := range pairs {
		back = append(back, [2]*netns.Host{p[1], p[0]})
	}
	return back
}

func bothWays(pairs [][2]*netns.Host) [][2]*netns.Host { return append(pairs, turned(pairs)...) }

// between are the links between a machine and another host.
func (t *testbed) between(victim, other string) [][2]*netns.Host {
	return bothWays([][2]*netns.Host{{t.hosts[victim], t.hosts[other]}})
}

// cutMachine is a cable that was pulled: nothing passes, nobody is told.
func cutMachine(ctx context.Context, t *testbed, victim string, d draw) {
	t.under(ctx, netns.Condition{Cut: true}, d, bothWays(t.from(victim)))
}

// cutSending loses what a machine sends; it gets what others send.
func cutSending(ctx context.Context, t *testbed, victim string, d draw) {
	t.under(ctx, netns.Condition{Cut: true}, d, t.from(victim))
}

func cutReceiving(ctx context.Context, t *testbed, victim string, d draw) {
	t.under(ctx, netns.Condition{Cut: true}, d, t.to(victim))
}

// cutBroker cuts a broker off from the others and from the stages of other machines. Its own machine's reach it, and all others.
func cutBroker(ctx context.Context, t *testbed, victim string, d draw) {
	var ports []uint16
	for _, b := range t.brokers {
		ports = append(ports, uint16(routePort+b.index)) //nolint:gosec // a port
		if b.machine == victim {
			ports = append(ports, uint16(clientPort+b.index)) //nolint:gosec // a port
		}
	}
	t.under(ctx, netns.Condition{Cut: true, Ports: ports}, d, bothWays(t.from(victim)))
}

// cutPeers cuts a machine off from the two others that have brokers; all reach the fourth, the web and S3.
func cutPeers(ctx context.Context, t *testbed, victim string, d draw) {
	var pairs [][2]*netns.Host
	for _, other := range t.withBroker(true) {
		if other != victim {
			pairs = append(pairs, t.between(victim, other)...)
		}
	}
	t.under(ctx, netns.Condition{Cut: true}, d, pairs)
}

// cutWeb cuts a machine off from the sites, and from the name server.
func cutWeb(ctx context.Context, t *testbed, victim string, d draw) {
	t.under(ctx, netns.Condition{Cut: true}, d, t.between(victim, t.web))
}

func cutS3(ctx context.Context, t *testbed, victim string, d draw) {
	t.under(ctx, netns.Condition{Cut: true}, d, t.between(victim, t.s3))
}

func slowMachine(ctx context.Context, t *testbed, victim string, d draw) {
	t.under(ctx, netns.Condition{Delay: slowDelay, Rate: slowRate}, d, bothWays(t.from(victim)))
}

func loss(d draw) netns.Condition {
	return netns.Condition{Loss: leastLoss + d.a*(mostLoss-leastLoss)}
}

func lossyMachine(ctx context.Context, t *testbed, victim string, d draw) {
	t.under(ctx, loss(d), d, bothWays(t.from(victim)))
}

// all are the links between all hosts.
func (t *testbed) all() (pairs [][2]*netns.Host) {
	for name := range t.hosts {
		pairs = append(pairs, t.from(name)...)
	}
	return pairs
}

func lossyNetwork(ctx context.Context, t *testbed, _ string, d draw) {
	t.under(ctx, loss(d), d, t.all())
}

// farApart puts the hosts into places some thousand kilometres from each other.
func farApart(ctx context.Context, t *testbed, _ string, d draw) {
	t.under(ctx, netns.Condition{Delay: farDelay}, d, t.all())
}

// loseMachine loses a machine for good: its processes, its disk and its place in the network. After a while there is a new one of
// that name and address, which has nothing.
func loseMachine(ctx context.Context, t *testbed, victim string, d draw) {
	if err := t.lose(victim); err != nil {
		t.tell.Violation("lose machine %s: %v", victim, err)
	}
	_ = sleep.For(ctx, d.duration())
	for _, p := range t.on[victim] {
		p.Want()
	}
}
