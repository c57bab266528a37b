package writer

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"seine/internal/base/installation"
	"seine/internal/testing/await"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// A writer whose index belongs to another installation starts only if it may adopt it. Before that
// it creates nothing in the output.
func TestIndexOfAnotherInstallation_Refused(t *testing.T) {
	t.Parallel()
	here, there := startBus(t, false), startBus(t, false)
	cfg := testConfig(t)
	w, err := New(cfg, here)
	check(t, err)
	first := await.Start(t, w.Run)
	await.Eventually(t, "the output is open", func() bool { _, err := os.Stat(cfg.Out); return err == nil && len(w.owned()) == partitions })
	check(t, first.End())
	cfg.Out += "-of-another"
	w, err = New(cfg, there)
	check(t, err)
	if err := w.Run(t.Context()); !errors.Is(err, installation.ErrOther) {
		t.Errorf("it starts with %v, want installation.ErrOther", err)
	}
	if _, err := os.Stat(cfg.Out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the output was made: %v", err)
	}
	cfg.Adopt = true
	w, err = New(cfg, there)
	check(t, err)
	adopted := await.Start(t, w.Run)
	await.Eventually(t, "it owns all", func() bool { return len(w.owned()) == partitions })
	check(t, adopted.End())
}

func storeLayout(t *testing.T, bus *stages.Bus, l messages.Layout) {
	t.Helper()
	kv, err := bus.Bucket(t.Context(), messages.BucketMeta)
	check(t, err)
	_, err = kv.Put(t.Context(), messages.KeyLayout, messages.Encode(l))
	check(t, err)
}

// A running writer stops once the server has the streams of another installation.
func TestServerOfAnotherInstallation_WriterEnds(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	w, err := New(testConfig(t), bus)
	check(t, err)
	w.lagEvery = lagEvery / 100
	run := await.Start(t, w.Run)
	await.Eventually(t, "it owns all", func() bool { return len(w.owned()) == partitions })
	other := bus.Layout
	other.Installation = "another"
	storeLayout(t, bus, other)
	if err := run.Wait(); !errors.Is(err, installation.ErrOther) {
		t.Errorf("it ends with %v, want installation.ErrOther", err)
	}
}

// A writer refuses an output that has commits of the same stream under another number of
// partitions, whichever is larger: it would duplicate or lose records. Commits of another stream do
// not matter.
func TestCommitsOfAnotherNumberOfPartitions_Refused(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	cfg := testConfig(t)
	w := start(t, bus, cfg)
	publish(t, bus, "a", 0, 64)
	w.catchUp()
	w.end()
	for _, n := range []int{2 * partitions, partitions / 2} {
		bus.Layout.Partitions = n
		cfg.State = t.TempDir()
		w, err := New(cfg, bus)
		check(t, err)
		if err := await.Start(t, w.Run).Wait(); !errors.Is(err, errPartitions) {
			t.Errorf("with %d partitions it ends with %v, want errPartitions", n, err)
		}
	}
	wantExactly(t, cfg, map[string]int{"a": 64})
	other := startBus(t, false)
	other.Layout.Partitions = 1
	cfg.State = t.TempDir()
	w = start(t, other, cfg)
	publish(t, other, "b", 0, 1)
	w.catchUp()
	w.end()
	wantExactly(t, cfg, map[string]int{"a": 64, "b": 1})
}
