package procstats

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// memoryLimit is the memory that this process may have: the least of what its
// control groups and the machine have.
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

// limitFiles are where the limits of a process's control groups are, and those of
// the groups around them, by what /proc/self/cgroup says (cgroups(7)). In a
// container the paths there are those outside, and its own group is at the top.
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

// machineMemory is all memory there is, 0 where /proc is not.
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
