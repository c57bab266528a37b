package proc

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory returns the resident set of a process in bytes, now and at its largest.
func Memory(pid int) (rss, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, needsLinux(err)
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if key != "VmRSS" && key != "VmHWM" {
			continue
		}
		kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		if err != nil {
			return 0, 0, needsLinux(err)
		}
		if key == "VmRSS" {
			rss = kib << 10
		} else {
			peak = kib << 10
		}
	}
	return rss, peak, nil
}

// ticks are the kernel's units of time in a second: USER_HZ.
const ticks = 100

// CPU is the time in seconds that a process has had on all cores, in its own code and in the kernel.
func CPU(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, needsLinux(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from the state on, which is the third
	return sumTicks(fields[11:13])                                            // utime, stime
}

// Busy is the time in seconds that all cores together have spent on anything.
func Busy() (float64, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, needsLinux(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal
	return sumTicks(append(fields[1:4:4], fields[6:9]...))
}

func sumTicks(fields []string) (sum float64, err error) {
	for _, f := range fields {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return 0, needsLinux(err)
		}
		sum += n
	}
	return sum / ticks, nil
}

func needsLinux(err error) error {
	return fmt.Errorf("read the costs of a process (needs Linux): %w", err)
}

// MB is a size in millions of bytes, which is what limits are given in.
func MB(n int64) float64 { return float64(n) / 1e6 }

// Size is what a file holds, or the files below a folder.
func Size(path string) (sum int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // a file that was just removed
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
