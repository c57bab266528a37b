package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// treeProcess is a process that this one has started, or one of those has.
type treeProcess struct {
	id, parent int
	cpu        float64 // seconds, its own and those of the processes it has seen end
}

// ticks are the kernel's units of time in a second: USER_HZ.
const ticks = 100

// processTree returns this process's descendants, and what the ended ones among its children have had.
func processTree() (living []treeProcess, ended float64, err error) {
	all := make(map[int][]treeProcess) // by parent
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(names) == 0 {
		return nil, 0, fmt.Errorf("read the list of processes (needs Linux): %w", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name) //nolint:gosec // of /proc
		if err != nil {
			continue // it has ended
		}
		p, reaped := parseStat(text)
		if p.id, _ = strconv.Atoi(filepath.Base(filepath.Dir(name))); p.id == os.Getpid() {
			ended = reaped
		}
		all[p.parent] = append(all[p.parent], p)
	}
	living = all[os.Getpid()]
	for i := 0; i < len(living); i++ {
		living = append(living, all[living[i].id]...)
	}
	return living, ended, nil
}

// parseStat reads a line of /proc/PID/stat (proc_pid_stat(5)).
func parseStat(text []byte) (p treeProcess, reaped float64) {
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from the state on, which is the third
	p.parent, _ = strconv.Atoi(fields[1])
	var times [4]float64 // utime, stime, cutime, cstime
	for i := range times {
		times[i], _ = strconv.ParseFloat(fields[11+i], 64)
	}
	reaped = (times[2] + times[3]) / ticks
	p.cpu = (times[0]+times[1])/ticks + reaped
	return p, reaped
}

// treeCPU is the time in seconds that all processes below this one have had, ended ones too.
func treeCPU() (seconds float64, err error) {
	living, ended, err := processTree()
	for _, p := range living {
		ended += p.cpu
	}
	return ended, err
}

// treeMemory is what the processes below this one have of memory, in bytes: rss counts what they share for each of them, and pss
// once. pss is 0 where this user may not read it.
func treeMemory() (rss, pss int64, processes int, err error) {
	living, _, err := processTree()
	for _, p := range living {
		n := kilobytes(p.id, "status", "VmRSS:")
		if n == 0 {
			continue // it has ended
		}
		processes++
		rss += n << 10
		pss += kilobytes(p.id, "smaps_rollup", "Pss:") << 10
	}
	return rss, pss, processes, err
}

// kilobytes reads a line of a file of a process.
func kilobytes(id int, file, key string) (n int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", id, file)) //nolint:gosec // of /proc
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			n, _ = strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	return n
}
