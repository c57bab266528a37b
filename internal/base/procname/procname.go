// Package procname names this process and its machine.
package procname

import (
	"fmt"
	"os"
)

// Host returns the name of this machine, "unknown host" if it has none.
func Host() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "unknown host"
	}
	return host
}

// Instance identifies this process among those of its stage: the machine's name and the process ID.
func Instance() string { return fmt.Sprintf("%s-%d", Host(), os.Getpid()) }
