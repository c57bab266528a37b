package chromium

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"seine/internal/base/filelock"
)

// profile is the folder of a browser, and the lock that says that it is in use.
type profile struct {
	dir  string
	lock *os.File
}

const (
	profilePrefix = "seine-browser-"
	lockSuffix    = ".lock"
	// maxProfilePath is how long the path of a profile may be: that of a socket has at most 107 bytes (unix(7)).
	maxProfilePath = 107 - len("/org.chromium.Chromium.XXXXXX/SingletonSocket")
)

// newProfile makes a folder for a browser that runs as a user, and removes those whose processes were killed.
func newProfile(parent string, as *user) (*profile, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeStale(parent)
	dir, err := os.MkdirTemp(parent, profilePrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the browser: %w", err)
	}
	p := &profile{dir: dir}
	if over := len(dir) - maxProfilePath; over > 0 {
		p.remove()
		return nil, fmt.Errorf("make a folder for the browser: %s is too long by %d bytes for the socket that a browser makes in it: choose a folder with a shorter path", parent, over)
	}
	if p.lock, err = filelock.Take(dir + lockSuffix); err == nil && as != nil {
		err = os.Chown(dir, as.uid, as.gid)
	}
	if err != nil {
		p.remove()
		return nil, fmt.Errorf("make a folder for the browser: %w", err)
	}
	return p, nil
}

// remove removes the folder. What the browser still writes as it ends may bring back a part of it.
func (p *profile) remove() {
	_ = os.RemoveAll(p.dir)
	if p.lock != nil {
		_ = os.Remove(p.dir + lockSuffix)
		_ = p.lock.Close()
	}
}

// removeStale removes folders whose lock is free.
func removeStale(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, profilePrefix+"*"+lockSuffix))
	for _, name := range locks {
		lock, err := filelock.Take(name)
		if err != nil {
			continue // it is in use, or another user's
		}
		(&profile{strings.TrimSuffix(name, lockSuffix), lock}).remove()
	}
}
