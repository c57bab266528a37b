package diskspace

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// At returns the disk of a path, which must exist.
func At(path string) (Disk, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Disk{}, err
	}
	name, err := windows.UTF16PtrFromString(abs)
	if err != nil {
		return Disk{}, &os.PathError{Op: "inspect the disk of", Path: path, Err: err}
	}
	var free, size uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, &size, nil); err != nil {
		return Disk{}, &os.PathError{Op: "inspect the disk of", Path: path, Err: err}
	}
	return Disk{Free: int64(free), Size: int64(size), Device: filepath.VolumeName(abs)}, nil
}
