// Package diskspace returns the size and the free space of a disk.
package diskspace

// Disk is the disk of a file or directory.
type Disk struct {
	Free   int64  // bytes available to this user
	Size   int64  // total bytes
	Device string // the same for two paths on one disk, "" if unknown
}
