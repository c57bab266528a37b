package repartition

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"seine/internal/run/backup"
	"seine/internal/run/works"
	"seine/internal/testing/stagestest"
	"seine/pkg/stages"
)

// takeBackup makes a backup of the cluster, and calls beside before each thing that is copied.
func (c *cluster) takeBackup(ctx context.Context, beside func(step string)) error {
	c.t.Helper()
	b, _ := stagestest.Dial(c.t, c.url)
	_, err := (&backup.Backup{Bus: b, Dir: filepath.Join(c.t.TempDir(), "backup"), Progress: beside}).Run(ctx)
	return err
}

// No change of the number of partitions begins while a backup is made, and no backup while the number is being changed: neither
// beside the process that changes it, nor after that has ended at any step.
func TestBackupAndChangeExcludeEachOther(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.run(4, func(b *stages.Bus) {
		c.feed(b, 100)
		c.awaitSaved(b)
	})
	stopped := 0
	c.must(c.takeBackup(t.Context(), func(step string) {
		stopped++
		for _, to := range []int{2, 16} {
			if _, err := c.change(to).Run(t.Context()); !errors.Is(err, works.ErrExcluded) {
				t.Errorf("a change to %d beside a backup, %s: %v, want %v", to, step, err, works.ErrExcluded)
			}
		}
	}))
	if stopped == 0 {
		t.Error("the backup was never stopped")
	}
	for _, to := range []int{2, 16} {
		ended := errors.New("the process ends here")
		for _, last := range []string{stepBegun, stepRead, stepCopied, stepStored, stepDecided, stepInstalled, stepBudgets, stepPurged, stepLaidOut} {
			ch := c.change(to)
			ch.At = func(step string) error {
				if step != last {
					return nil
				}
				if err := c.takeBackup(t.Context(), nil); !errors.Is(err, works.ErrExcluded) {
					t.Errorf("a backup beside a change to %d, at %q: %v, want %v", to, step, err, works.ErrExcluded)
				}
				return ended
			}
			if _, err := ch.Run(t.Context()); !errors.Is(err, ended) {
				t.Fatalf("to %d, at %q: %v", to, last, err)
			}
			if err := c.takeBackup(t.Context(), nil); !errors.Is(err, stages.ErrMoving) {
				t.Errorf("a backup after a change to %d that ended at %q: %v, want %v", to, last, err, stages.ErrMoving)
			}
		}
		_, err := c.change(to).Run(t.Context())
		c.must(err)
		c.must(c.takeBackup(t.Context(), nil))
	}
}
