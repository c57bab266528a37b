package snapshots

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"seine/internal/run/connect"
	"seine/internal/serve/cluster"
	"seine/internal/testing/await"
	"seine/internal/testing/stagestest"
)

// However many watchers there are, one query serves them all.
func TestOneLooksForAllWhoWatch(t *testing.T) {
	t.Parallel()
	broker, bus := stagestest.Open(t)
	var looks atomic.Int32
	if _, err := bus.NC.Subscribe("$SRV.INFO", func(*nats.Msg) { looks.Add(1) }); err != nil {
		t.Fatal(err)
	}
	if err := bus.NC.Flush(); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	c := cluster.New(connect.Operator{Options: connect.Options{NATS: broker.URL()}}, log)
	defer c.Close()
	f := New(c, log)
	const watchers = 50
	var all []<-chan *Snapshot
	for range watchers {
		w, end := f.Watch()
		defer end()
		all = append(all, w)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); f.Run(ctx) }()
	defer func() { stop(); <-ended }()
	for round := range 2 {
		first := <-all[0]
		for i, w := range all[1:] {
			if got := <-w; got != first {
				t.Fatalf("watcher %d has another snapshot in round %d", i+1, round)
			}
		}
		var s struct {
			Mode     string
			Overview struct{ Streams []struct{ Name string } }
		}
		if err := json.Unmarshal(first.JSON(), &s); err != nil || s.Mode != "running" || len(s.Overview.Streams) != 7 {
			t.Errorf("%.500s, %v", first.JSON(), err)
		}
	}
	if n := looks.Load(); n < 2 || n > 3 { // a third may have started
		t.Errorf("%d looks for 2 rounds of %d watchers", n, watchers)
	}
}

// A slow watcher does not block others, and gets the newest snapshot.
func TestSlowWatcherHasTheNewest(t *testing.T) {
	t.Parallel()
	f := New(nil, slog.New(slog.DiscardHandler))
	slow, end := f.Watch()
	defer end()
	for range 3 {
		f.publish(&Snapshot{Mode: cluster.Empty})
	}
	newest := &Snapshot{Mode: cluster.Away}
	f.publish(newest)
	if got := <-slow; got != newest {
		t.Errorf("it has %+v", got)
	}
	late, end := f.Watch()
	defer end()
	got := false
	await.Eventually(t, "who comes late has the last", func() bool {
		select {
		case s := <-late:
			got = s == newest
		default:
		}
		return got
	})
}
