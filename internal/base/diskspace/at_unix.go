//go:build unix

package diskspace

import (
	"os"
	"strconv"
	"syscall"
)

// At returns the disk of a path, which must exist.
func At(path string) (Disk, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return Disk{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	d := Disk{Free: int64(st.Bavail) * int64(st.Bsize), Size: int64(st.Blocks) * int64(st.Bsize)}
	info, err := os.Stat(path)
	if err != nil {
		return Disk{}, err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		d.Device = strconv.FormatUint(uint64(s.Dev), 10)
	}
	return d, nil
}
