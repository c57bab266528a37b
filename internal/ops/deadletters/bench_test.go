package deadletters

import (
	"fmt"
	"testing"

	"seine/internal/testing/natstest"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// letters is the number of dead letters in the benchmarks.
const letters = 100_000

// fill publishes dead letters of seeds, as from a message with many invalid lines.
func fill(b *testing.B, bus *stages.Bus) {
	b.Helper()
	all := make([]messages.Dead, letters)
	for i := range all {
		all[i] = messages.Dead{Stage: messages.StageFrontier, Crawl: "c", Reason: "URL has no host", Payload: fmt.Appendf(nil, "http:///%d", i)}
	}
	publishLetters(b, bus, all...)
	if n := natstest.State(b, bus.JS, messages.StreamDead).Msgs; n != letters {
		b.Fatalf("DEAD has %d letters", n)
	}
}

func benchmarkBus(b *testing.B) *stages.Bus {
	b.Helper()
	srv := natstest.Start(b, natstest.Listening(b))
	bus, err := stages.Dial(srv.ClientURL(), b.Name(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(bus.Close)
	if err := bus.Provision(b.Context(), 1, messages.DefaultStreamLimits(), 1); err != nil {
		b.Fatal(err)
	}
	fill(b, bus)
	return bus
}

// BenchmarkLast reads the last dead letters of a full DEAD.
func BenchmarkLast(b *testing.B) {
	bus := benchmarkBus(b)
	for b.Loop() {
		if all, err := Last(b.Context(), bus, Filter{}, 100); err != nil || len(all) != 100 {
			b.Fatal(len(all), err)
		}
	}
}

// BenchmarkDropAll removes all dead letters of a full DEAD.
func BenchmarkDropAll(b *testing.B) {
	bus := benchmarkBus(b)
	for _, f := range []Filter{{}, {Crawl: "c"}, {Reason: "has no host"}} {
		b.Run(fmt.Sprintf("crawl=%s/reason=%t", f.Crawl, f.Reason != ""), func(b *testing.B) {
			for b.Loop() {
				if n, err := DropAll(b.Context(), bus, f); err != nil || n != letters {
					b.Fatal(n, err)
				}
				b.StopTimer()
				fill(b, bus)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkLastOfNone searches for the last dead letters if none match.
func BenchmarkLastOfNone(b *testing.B) {
	bus := benchmarkBus(b)
	for b.Loop() {
		if all, err := Last(b.Context(), bus, Filter{Reason: "has no port"}, 100); err != nil || len(all) != 0 {
			b.Fatal(len(all), err)
		}
	}
}

// BenchmarkEach reads all dead letters of a full DEAD.
func BenchmarkEach(b *testing.B) {
	bus := benchmarkBus(b)
	for b.Loop() {
		n := 0
		if err := Each(b.Context(), bus, Filter{}, func(*DeadLetter) error { n++; return nil }); err != nil || n != letters {
			b.Fatal(n, err)
		}
	}
}
