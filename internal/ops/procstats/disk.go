package procstats

import (
	"fmt"
	"os"
	"path/filepath"

	"seine/internal/base/diskspace"
)

// diskOf returns the disk of a path. If the path does not exist, it uses the nearest existing
// parent directory.
func diskOf(path string) (Disk, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Disk{}, fmt.Errorf("inspect the disk of %s: %w", path, err)
	}
	for {
		at, err := diskspace.At(abs)
		if err == nil {
			return Disk{Free: at.Free, Size: at.Size, Device: at.Device}, nil
		}
		if !os.IsNotExist(err) || filepath.Dir(abs) == abs {
			return Disk{}, fmt.Errorf("inspect the disk of %s: %w", path, err)
		}
		abs = filepath.Dir(abs)
	}
}
