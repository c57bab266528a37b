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

// ErrDiskFull is returned when the state or the output cannot grow. What has
// been acknowledged is safe: the same command continues once there is room.
var ErrDiskFull = errors.New("the disk is full; make room and run the same command again")

// minFree is how much must be free below --data. JetStream stops a stream for
// good when one write of it fails, and then nothing would say why nothing moves.
const minFree = 2 << 20

// checkDisk reports that the disk below dir is nearly full.
func checkDisk(dir string) error {
	disk, err := diskspace.At(dir)
	if err != nil {
		return fmt.Errorf("look at the disk of --data: %w", err)
	}
	if disk.Free < minFree {
		return fmt.Errorf("--data %s: %s left: %w", dir, humanize.Size(disk.Free), ErrDiskFull)
	}
	return nil
}

// checkOut reports, before anything is started, that no output can be written.
func checkOut(w *writer.Config) (err error) {
	flag := FlagOf(w)
	if !bucket.Is(w.Out) && !writer.IsDatabase(w.Out) {
		return checkWritable(flag, w.Out)
	}
	if err = w.CheckOpens(); err != nil && flag != "--out" { // which the error names by itself
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return err
}

// checkWritable reports, before anything is started, that nothing can be
// written below a directory.
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

// missing are the directories on a path that are not there, the innermost first.
func missing(dir string) (all []string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return all
		}
		all = append(all, dir)
	}
}

// removeEmpty removes directories as far as nothing is in them.
func removeEmpty(dirs []string) {
	for _, dir := range dirs {
		_ = os.Remove(dir) // it fails where something is
	}
}
