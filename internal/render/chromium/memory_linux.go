package chromium

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// KillLargePages ends the processes of pages that have more than so many bytes of memory. Their pages crash, and no others. Linux
// alone tells; elsewhere nothing is ended.
func (b *Browser) KillLargePages(most int64) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	group := strconv.Itoa(b.ID())
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The name of the program, in parentheses, may have spaces; behind it come the fields from the third on (proc_pid_stat(5)).
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 22 || fields[2] != group || !isPage(filepath.Dir(name)) {
			continue
		}
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		if pages*int64(os.Getpagesize()) > most {
			if id, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				_ = syscall.Kill(id, syscall.SIGKILL)
			}
		}
	}
}

// isPage reports whether a process of the browser has pages, by its command line.
func isPage(dir string) bool {
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	return err == nil && bytes.Contains(line, []byte("--type=renderer"))
}
