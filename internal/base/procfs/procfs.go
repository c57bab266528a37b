// Package procfs reads processes from /proc (proc(5)). On systems other than Linux it finds none.
package procfs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// InGroup returns the processes of a process group; none for group 0.
func InGroup(group int) (pids []int) {
	if group == 0 {
		return nil
	}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range all {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && GroupOf(pid) == group {
			pids = append(pids, pid)
		}
	}
	return pids
}

// GroupOf returns the process group of a process, 0 if it has ended.
func GroupOf(pid int) int { return statField(pid, 2) }

// ParentOf returns the parent of a process, 0 if it has ended.
func ParentOf(pid int) int { return statField(pid, 1) }

// Resident returns the resident memory of a process in bytes, 0 if it has ended.
func Resident(pid int) int64 { return int64(statField(pid, 21)) * int64(os.Getpagesize()) }

// statField returns field n of /proc/PID/stat (proc_pid_stat(5)), counted from the state, which
// follows the name.
func statField(pid, n int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= n || fields[0] == "Z" { // a zombie has ended
		return 0
	}
	value, _ := strconv.Atoi(fields[n])
	return value
}

// CommandLine returns the arguments of a process, none if it has ended.
func CommandLine(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == 0 || r == ' ' }) // Chromium's children separate arguments by spaces instead of NULs
}
