package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"seine/internal/output"
)

// OpenMerge implements output.Merger. It removes the leftovers of a killed process's uncommitted
// merge. Owners of the partition do not touch that, since they run at the same time.
func (s *Sink) OpenMerge(p int) (output.Partition, []output.Ref, error) {
	lock, err := vfs.Default.Lock(filepath.Join(s.logs, fmt.Sprintf("part-%03d-merge.lock", p)))
	if IsHeld(err) {
		err = output.ErrMerging
	}
	if err != nil {
		return nil, nil, fmt.Errorf("lock partition %d of %s: %w", p, s.out, err)
	}
	refs, err := s.recoverMerge(p)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("recover partition %d of %s: %w", p, s.out, err), lock.Close())
	}
	return &partition{sink: s, lock: lock}, refs, nil
}

func (s *Sink) recoverMerge(p int) ([]output.Ref, error) {
	refs, err := s.list(p, func(n output.Name) bool { return n.Last > 0 })
	if err != nil {
		return nil, err
	}
	err = s.removeUncommitted(refs, func(n output.Name, _ bool) bool { return n.Partition == p && n.Last > 0 })
	return refs, errors.Join(err, syncDir(s.logs))
}

// ListAll implements output.Merger.
func (s *Sink) ListAll(p int) ([]output.Ref, error) {
	return s.list(p, func(output.Name) bool { return false })
}

// Remove implements output.Merger.
func (s *Sink) Remove(path string) error {
	err := os.Remove(filepath.Join(s.out, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

var _ output.Merger = (*Sink)(nil)
