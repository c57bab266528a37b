package chromium

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"seine/internal/base/filelock"
)

// profile is the directory of a browser, and the lock that marks it as in use.
type profile struct {
	dir  string
	lock *os.File
}

const (
	profilePrefix = "seine-browser-"
	lockSuffix    = ".lock"
	// maxProfilePath is the maximum length of a profile's path: the path of a socket has at most
	// 107 bytes (unix(7)).
	maxProfilePath = 107 - len("/org.chromium.Chromium.XXXXXX/SingletonSocket")
)

// newProfile creates a directory for a browser that runs as this user, and removes those of killed
// processes.
func newProfile(parent string, as *user) (*profile, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeStale(parent)
	dir, err := os.MkdirTemp(parent, profilePrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("create a folder for the browser: %w", err)
	}
	p := &profile{dir: dir}
	if over := len(dir) - maxProfilePath; over > 0 {
		p.remove()
		return nil, fmt.Errorf("create a folder for the browser: %s is too long by %d bytes for the socket that a browser makes in it: choose a folder with a shorter path", parent, over)
	}
	if p.lock, err = filelock.Take(dir + lockSuffix); err == nil && as != nil {
		err = os.Chown(dir, as.uid, as.gid)
	}
	if err != nil {
		p.remove()
		return nil, fmt.Errorf("create a folder for the browser: %w", err)
	}
	return p, nil
}

// remove removes the directory. A browser that is still ending may re-create a part of it.
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
			continue // in use, or owned by another user
		}
		(&profile{strings.TrimSuffix(name, lockSuffix), lock}).remove()
	}
}
