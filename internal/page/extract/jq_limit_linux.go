package extract

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// limitWorker sets kernel limits: it prevents a worker from allocating too much between two checks,
// and makes it the first to be killed when memory is short.
func limitWorker(limits jqLimits) {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	statm, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(statm))
	if len(fields) < 6 {
		return
	}
	pages, _ := strconv.Atoi(fields[5])
	most := uint64(pages*os.Getpagesize()) + 4*limits.memory
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most})
}
