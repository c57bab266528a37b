// Package diskspace returns how much room a disk has.
package diskspace

// Disk is the disk that a file or folder is on.
type Disk struct {
	Free   int64  // bytes that this user may still write
	Size   int64  // bytes in all
	Device string // the same for two places on one disk, "" where that is not known
}
