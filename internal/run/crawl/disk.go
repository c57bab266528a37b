package crawl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"seine/internal/base/diskspace"
	"seine/internal/base/humanize"
	"seine/internal/output/bucket"
	"seine/pkg/stages/writer"
)

// ErrDiskFull is returned if the state or the output cannot grow. Acknowledged data is safe: the
// same command continues once there is room.
var ErrDiskFull = errors.New("the disk is full; make room and run the same command again")

// minFree is the least free space below --data, in bytes. JetStream disables a stream for good
// after one failed write, and then no error would explain why the crawl is stalled.
const minFree = 2 << 20

// checkDisk returns ErrDiskFull if the disk of dir is nearly full.
func checkDisk(dir string) error {
	disk, err := diskspace.At(dir)
	if err != nil {
		return fmt.Errorf("inspect the disk of --data: %w", err)
	}
	if disk.Free < minFree {
		return fmt.Errorf("--data %s: %s left: %w", dir, humanize.Size(disk.Free), ErrDiskFull)
	}
	return nil
}

// checkOut reports, before the stages start, that an output cannot be written.
func checkOut(w *writer.Config) (err error) {
	flag := FlagOf(w)
	if !bucket.Is(w.Out) && !writer.IsDatabase(w.Out) {
		return checkWritable(flag, w.Out)
	}
	if err = w.CheckOpens(); err != nil && flag != "--out" { // the error names --out itself
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return err
}

// checkWritable reports, before the stages start, that dir is not writable. It creates dir if
// needed.
func checkWritable(flag, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%s %s: %w", flag, dir, err)
	}
	f, err := os.CreateTemp(dir, ".seine-*")
	if err != nil {
		return fmt.Errorf("%s %s: %w", flag, dir, err)
	}
	_ = f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return fmt.Errorf("%s %s: %w", flag, dir, err)
	}
	return nil
}

// missing returns the missing directories of a path, the innermost first.
func missing(dir string) (all []string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return all
		}
		all = append(all, dir)
	}
}

// removeEmpty removes those of the directories that are empty.
func removeEmpty(dirs []string) {
	for _, dir := range dirs {
		_ = os.Remove(dir) // fails if the directory is not empty
	}
}
