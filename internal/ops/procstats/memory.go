package procstats

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// memoryLimit returns the memory available to this process: the smallest limit of its control
// groups and the machine.
func memoryLimit() int64 {
	least := machineMemory()
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for _, file := range limitFiles(string(groups)) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no limit
		if err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// limitFiles returns the files with the memory limits of a process's control groups and their
// parents, given /proc/self/cgroup (cgroups(7)). In a container those paths are relative to the
// host, and the process's own group is at the root.
func limitFiles(groups string) []string {
	files := []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}
	for line := range strings.Lines(groups) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		root, file := "", ""
		switch controllers {
		case "":
			root, file = "/sys/fs/cgroup", "memory.max"
		case "memory":
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for ; group != "/" && group != "." && group != ""; group = path.Dir(group) {
			files = append(files, path.Join(root, group, file))
		}
	}
	return files
}

// machineMemory returns the total memory, 0 on systems without /proc.
func machineMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		var kib int64
		if _, err := fmt.Sscanf(string(line), "MemTotal: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}
