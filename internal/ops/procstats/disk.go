package procstats

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// diskOf tells of the disk that a path is on, or will be: of the nearest folder
// that there is.
func diskOf(path string) (Disk, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Disk{}, fmt.Errorf("look at the disk of %s: %w", path, err)
	}
	for {
		i, err := os.Stat(abs)
		if err == nil {
			return statDisk(abs, i)
		}
		if !os.IsNotExist(err) || filepath.Dir(abs) == abs {
			return Disk{}, fmt.Errorf("look at the disk of %s: %w", path, err)
		}
		abs = filepath.Dir(abs)
	}
}

func statDisk(path string, i os.FileInfo) (Disk, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return Disk{}, fmt.Errorf("look at the disk of %s: %w", path, err)
	}
	d := Disk{Free: int64(st.Bavail) * int64(st.Bsize), Size: int64(st.Blocks) * int64(st.Bsize)}
	if s, ok := i.Sys().(*syscall.Stat_t); ok {
		d.Device = fmt.Sprintf("%d", s.Dev)
	}
	return d, nil
}
