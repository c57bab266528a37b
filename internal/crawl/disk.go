package crawl

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrDiskFull is returned when the state or the output cannot grow. What has
// been acknowledged is safe: the same command goes on once there is room.
var ErrDiskFull = errors.New("the disk is full; make room and run the same command again")

// minFree is how much must be free below --data. JetStream stops a stream for
// good when one write of it fails, and then nothing would say why nothing moves.
const minFree = 2 << 20

// checkDisk reports that the disk below dir is nearly full.
func checkDisk(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	if free := st.Bavail * uint64(st.Bsize); free < minFree {
		return fmt.Errorf("--data %s: %s left: %w", dir, Size(int64(free)), ErrDiskFull)
	}
	return nil
}
