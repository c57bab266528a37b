package writer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"seine/internal/output"
	"seine/internal/testing/await"
)

// While its disk is full, the index blocks callers that add to it, and logs that. It continues when
// there is space.
func TestIndexDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	var full atomic.Bool
	x, err := openIndex(filepath.Join(dir, "state"), quiet(), func(err error) { full.Store(errors.Is(err, syscall.ENOSPC)) })
	check(t, err)
	ballast := filepath.Join(dir, "ballast")
	_ = os.WriteFile(ballast, make([]byte, 4<<20), 0o644) // fills the disk
	created, entries := time.Unix(1, 0), 20
	done := make(chan error, 1)
	go func() {
		for n := range entries {
			c := manyVisits(created, n)
			if err := x.Add(output.Ref{Name: c.Name(), Stamp: "stamp"}, c); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	await.Eventually(t, "trouble", full.Load)
	check(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	check(t, <-done)
	await.Eventually(t, "the end of it", func() bool { return !full.Load() })
	for n := range entries {
		ok, err := x.Has(1, created, identity(manyVisits(created, n).Visits[:output.IdentitySize]))
		if err != nil || !ok {
			t.Errorf("entry %d: %v %v", n, ok, err)
		}
	}
	check(t, x.Close())
}

func manyVisits(created time.Time, n int) *output.Commit {
	c := &output.Commit{Partition: 1, Created: created, FirstSeq: uint64(n + 1)}
	for i := range 10000 {
		sum := sha256.Sum256(fmt.Append(nil, n, i))
		c.Visits = append(c.Visits, sum[:output.IdentitySize]...)
	}
	return c
}
