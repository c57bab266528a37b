package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"seine/bench/supervise"
	"seine/internal/base/sleep"
	"seine/internal/testing/faultproxy"
	"seine/pkg/messages"
)

// fault is a kind of trouble. What it does to whom is drawn from a seeded source.
type fault struct {
	kind string
	// among whom one is chosen; none if there is nobody now
	among func(*testbed) []string
	// do makes the trouble and ends it.
	do func(ctx context.Context, r *testbed, victim string, d draw)
	// alone is what no two faults may touch at a time; empty for the victim.
	alone string
}

// draw are the numbers that a fault may use: from 0 up to 1.
type draw struct{ length, a, b float64 }

// between is a time from least to most.
func (d draw) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.length*float64(most-least))
}

// Lengths of faults. A lease lasts 10 s, and a fetcher's or parser's message 15 s: pauses must be longer than either, and
// shorter.
const (
	shortest = 500 * time.Millisecond
	longest  = 25 * time.Second
)

// allFaults are the kinds there are on this machine.
func allFaults(r *testbed) []fault {
	var fs []fault
	for _, role := range r.roles {
		running := func(r *testbed) []string { return r.wanted(role) }
		fs = append(fs,
			fault{"kill " + role, running, killOne, ""},
			fault{"pause " + role, running, pauseOne, ""},
			fault{"scale " + role, func(*testbed) []string { return []string{"the number of " + role + "s"} }, scale(role), "scale"},
		)
		if r.clocks {
			fs = append(fs, fault{"clock " + role, running, jumpClock, ""})
		}
	}
	if r.clocks {
		frontiers := func(r *testbed) []string { return r.wanted(messages.StageFrontier) }
		fs = append(fs, fault{"clock over restart", frontiers, restartSkewed, ""})
	}
	anyStage := func(r *testbed) (all []string) {
		for _, role := range r.roles {
			all = append(all, r.wanted(role)...)
		}
		return all
	}
	for name, breakIt := range breaks {
		fs = append(fs,
			fault{"net " + name + " stage", anyStage, breakStage(breakIt), ""},
			fault{"net " + name + " broker", brokerNames, breakBroker(breakIt), roleBroker},
		)
	}
	fs = append(fs,
		fault{"kill broker", brokerNames, killOne, roleBroker},
		fault{"pause broker", brokerNames, pauseOne, roleBroker},
		fault{"kill all brokers", func(*testbed) []string { return []string{"all brokers"} }, killBrokers, roleBroker},
	)
	if r.clocks {
		fs = append(fs, fault{"clock broker", brokerNames, jumpClock, ""})
	}
	if r.canFill() {
		fs = append(fs,
			fault{"disk frontier", func(r *testbed) []string { return r.wanted(messages.StageFrontier) }, fillDisk, ""},
			fault{"disk index", func(r *testbed) []string { return without(r.wanted(messages.StageWriter), single) }, fillDisk, ""},
			fault{"disk output", func(*testbed) []string { return []string{"out"} }, fillDisk, ""},
			fault{"disk broker", brokerNames, fillBrokerDisk, roleBroker},
		)
	}
	if _, ok := r.outputs[roleS3]; ok {
		s3 := func(*testbed) []string { return []string{roleS3} }
		fs = append(fs, fault{"kill s3", s3, killOne, ""}, fault{"slow s3", s3, slowSink, ""}, fault{"net cut s3", s3, cutSink, ""})
	}
	if r.renders() {
		fs = append(fs, browserFaults()...)
	}
	whole := func(*testbed) []string { return []string{"the cluster"} }
	fs = append(fs,
		fault{kindRestore, whole, restore, ""}, fault{kindEmpty, whole, emptyBrokers, ""},
		fault{"edit stream", func(*testbed) []string { return editedStreams }, editStream, ""},
		fault{"edit consumer", func(*testbed) []string { return slices.Sorted(maps.Keys(editedConsumers)) }, editConsumer, ""},
	)
	slices.SortFunc(fs, func(a, b fault) int { return strings.Compare(a.kind, b.kind) }) // maps have no order
	return fs
}

func brokerNames(r *testbed) []string { return r.wanted(roleBroker) }

func without(all, some []string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return slices.Contains(some, s) })
}

// faultsLike are those with a word in their kind that begins so.
func faultsLike(r *testbed, only string) ([]fault, error) {
	all := allFaults(r)
	some := slices.DeleteFunc(slices.Clone(all), func(f fault) bool { return !strings.Contains(" "+f.kind, " "+only) })
	if len(some) > 0 {
		return some, nil
	}
	var kinds []string
	for _, f := range all {
		kinds = append(kinds, f.kind)
	}
	return nil, fmt.Errorf("-only %q: here are %s", only, strings.Join(kinds, ", "))
}

// injectFaults makes faults until ctx is done, and then waits for the last to be over. Which come in which order, and how long
// they take, follows from the seed alone; a kind whose victim is busy is left out this time.
func injectFaults(ctx context.Context, r *testbed, all []fault, seed uint64, every time.Duration) {
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // meant to be repeated
	var deck []fault
	var mu sync.Mutex
	busy := make(map[string]bool)
	var going sync.WaitGroup
	defer going.Wait()
	for {
		wait := time.Duration((0.5 + rng.Float64()) * float64(every))
		if sleep.For(ctx, wait) != nil {
			return
		}
		if len(deck) == 0 { // each kind comes once before any comes again
			deck = slices.Clone(all)
			rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		f := deck[0]
		deck = deck[1:]
		d, pick := draw{rng.Float64(), rng.Float64(), rng.Float64()}, rng.Float64()
		fctx, leave := r.storm.enter(ctx, f.kind)
		among := f.among(r)
		if len(among) == 0 {
			leave()
			continue
		}
		victim := among[int(pick*float64(len(among)))]
		keys := []string{victim, f.alone}
		mu.Lock()
		taken := busy[victim] || f.alone != "" && busy[f.alone] || len(busy) > 6
		if !taken {
			for _, k := range keys {
				busy[k] = true
			}
		}
		mu.Unlock()
		if taken {
			leave()
			continue
		}
		going.Go(func() {
			over := r.tell.Begin(f.kind, fmt.Sprintf("%s %.2f", victim, d.length))
			f.do(fctx, r, victim, d)
			over()
			leave()
			mu.Lock()
			defer mu.Unlock()
			for _, k := range keys {
				delete(busy, k)
			}
		})
	}
}

// killOne kills a process, and has it started again after a while.
func killOne(ctx context.Context, r *testbed, victim string, d draw) {
	p := r.find(victim)
	p.Kill()
	_ = sleep.For(ctx, time.Duration(d.length*d.length*float64(15*time.Second)))
	p.Want()
}

// killBrokers kills all brokers at once.
func killBrokers(ctx context.Context, r *testbed, _ string, d draw) {
	var all sync.WaitGroup
	for _, name := range brokerNames(r) {
		all.Go(func() { r.find(name).Kill() })
	}
	all.Wait()
	_ = sleep.For(ctx, d.between(shortest, 8*time.Second))
	for _, p := range r.processes {
		if p.Role == roleBroker {
			p.Want()
		}
	}
}

// pauseOne freezes a process for a while.
func pauseOne(ctx context.Context, r *testbed, victim string, d draw) {
	p := r.find(victim)
	p.Signal(syscall.SIGSTOP)
	_ = sleep.For(ctx, d.between(shortest, longest))
	p.Signal(syscall.SIGCONT)
}

// scale runs one process of a stage, then as many as there may be, then one, then as many as before.
func scale(role string) func(context.Context, *testbed, string, draw) {
	return func(ctx context.Context, r *testbed, _ string, d draw) {
		step := d.between(4*time.Second, 12*time.Second)
		for _, n := range []int{1, slots, 1, r.counts[role]} {
			if ctx.Err() != nil {
				n = r.counts[role]
			}
			for i := range slots {
				p := r.find(stageName(role, i))
				switch {
				case i < n:
					p.Want()
				case p.IsWanted():
					if code := p.Drain(); code == supervise.Stuck {
						r.tell.Violation("%s does not end within %s of SIGTERM", p.Name, supervise.DrainTime)
					}
				}
			}
			_ = sleep.For(ctx, step)
		}
	}
}

// jumpClock sets a clock by up to two hours, forwards or back, and back again.
func jumpClock(ctx context.Context, r *testbed, victim string, d draw) {
	p := r.find(victim)
	jump := time.Duration((d.a*2 - 1) * float64(2*time.Hour))
	if d.b < 0.5 { // small ones too
		jump = time.Duration((d.a*2 - 1) * float64(20*time.Second))
	}
	r.tell.Note("clock of %s: %s", victim, jump.Round(time.Second))
	if err := setClock(p, jump); err != nil {
		r.tell.Violation("set clock: %v", err)
	}
	_ = sleep.For(ctx, d.between(shortest, longest))
	if err := setClock(p, 0); err != nil {
		r.tell.Violation("set clock: %v", err)
	}
}

// skews are how far clocks are apart that are meant to be right, and that are wrong.
var skews = []time.Duration{
	3 * time.Millisecond, 40 * time.Millisecond, 250 * time.Millisecond, 700 * time.Millisecond, 5 * time.Second, time.Minute, 2 * time.Hour, 365 * 24 * time.Hour,
}

// restartSkewed starts a process anew with another time of day, and after a while once more with the right one. Killed, it
// has its partitions again at once; ended in peace, others have them, and give some back.
func restartSkewed(ctx context.Context, r *testbed, victim string, d draw) {
	p := r.find(victim)
	skew := skews[int(d.a*float64(len(skews)))]
	if d.length < 0.5 {
		skew = -skew
	}
	r.tell.Note("clock of %s at its start: %s", victim, skew)
	for _, ahead := range []time.Duration{skew, 0} {
		if d.b < 0.5 {
			p.Kill()
		} else if code := p.Drain(); code == supervise.Stuck {
			r.tell.Violation("%s does not end within %s of SIGTERM", p.Name, supervise.DrainTime)
		}
		if err := setClock(p, ahead); err != nil {
			r.tell.Violation("set clock: %v", err)
		}
		p.Want()
		_ = sleep.For(ctx, d.between(6*time.Second, 15*time.Second))
	}
}

// breaks are what can be done to a link.
var breaks = map[string]func(w *faultproxy.Proxy, d draw){
	"cut":       func(w *faultproxy.Proxy, _ draw) { w.Cut() },
	"reset":     func(w *faultproxy.Proxy, _ draw) { w.Reset() },
	"blackhole": func(w *faultproxy.Proxy, _ draw) { w.Blackhole() },
	"half open": func(w *faultproxy.Proxy, _ draw) { w.DropResponses() },
	"delay":     func(w *faultproxy.Proxy, d draw) { w.Delay(time.Duration(d.a * float64(400*time.Millisecond))) },
}

func breakFor(ctx context.Context, ws []*faultproxy.Proxy, d draw, breakIt func(*faultproxy.Proxy, draw)) {
	for _, w := range ws {
		breakIt(w, d)
	}
	_ = sleep.For(ctx, d.between(shortest, longest))
	for _, w := range ws {
		w.Restore()
		w.Delay(0)
	}
}

// breakStage breaks the ways of a stage to all brokers, or to one.
func breakStage(breakIt func(*faultproxy.Proxy, draw)) func(context.Context, *testbed, string, draw) {
	return func(ctx context.Context, r *testbed, victim string, d draw) {
		ws := r.wires[victim]
		if d.b < 0.4 {
			i := int(d.b / 0.4 * brokers)
			ws = ws[i : i+1]
		}
		breakFor(ctx, ws, d, breakIt)
	}
}

// breakBroker breaks the ways between a broker and the others, or one other; sometimes those to all stages too.
func breakBroker(breakIt func(*faultproxy.Proxy, draw)) func(context.Context, *testbed, string, draw) {
	return func(ctx context.Context, r *testbed, victim string, d draw) {
		me := slices.Index(r.brokerOrder(), victim)
		var ws []*faultproxy.Proxy
		for other := range brokers {
			if other != me && (d.b > 0.3 || other == (me+1)%brokers) {
				ws = append(ws, r.links[me][other], r.links[other][me])
			}
		}
		if d.b > 0.6 {
			for _, p := range r.processes {
				if toBrokers := r.wires[p.Name]; len(toBrokers) == brokers {
					ws = append(ws, toBrokers[me])
				}
			}
		}
		breakFor(ctx, ws, d, breakIt)
	}
}

// fillDisk leaves no room on a disk for a while.
func fillDisk(ctx context.Context, r *testbed, victim string, d draw) {
	if err := r.disks[victim].fill(); err != nil {
		r.tell.Note("fill disk of %s: %v", victim, err)
	}
	_ = sleep.For(ctx, d.between(shortest, longest))
	r.disks[victim].free()
}

// fillBrokerDisk does what docs/guides/runbook.md says of a broker's full disk: make room, restart it.
func fillBrokerDisk(ctx context.Context, r *testbed, victim string, d draw) {
	fillDisk(ctx, r, victim, d)
	p := r.find(victim)
	p.Kill()
	p.Want()
}

// slowSink makes the S3 server take long to answer.
func slowSink(ctx context.Context, r *testbed, victim string, d draw) {
	breakFor(ctx, r.wires[victim], d, func(w *faultproxy.Proxy, d draw) {
		w.Delay(time.Duration((0.1 + d.a) * float64(1500*time.Millisecond)))
	})
}

func cutSink(ctx context.Context, r *testbed, victim string, d draw) {
	breakFor(ctx, r.wires[victim], d, func(w *faultproxy.Proxy, _ draw) { w.Cut() })
}
