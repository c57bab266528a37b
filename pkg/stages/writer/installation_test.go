package writer

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"seine/internal/base/installation"
	"seine/internal/testing/await"
	"seine/pkg/messages"
)

// A writer whose index is of another installation starts only if it is told to adopt it, and makes nothing in the output before.
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

// A writer that runs ends once the server has the streams of another installation.
func TestServerOfAnotherInstallation_WriterEnds(t *testing.T) {
	t.Parallel()
	bus := startBus(t, false)
	w, err := New(testConfig(t), bus)
	check(t, err)
	w.lagEvery = lagEvery / 100
	run := await.Start(t, w.Run)
	await.Eventually(t, "it owns all", func() bool { return len(w.owned()) == partitions })
	check(t, bus.ChangeLayout(t.Context(), func(l *messages.Layout) { l.Installation = "another" }))
	if err := run.Wait(); !errors.Is(err, installation.ErrOther) {
		t.Errorf("it ends with %v, want installation.ErrOther", err)
	}
}
