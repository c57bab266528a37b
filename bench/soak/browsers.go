package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"seine/internal/base/procfs"
	"seine/internal/base/sleep"
	"seine/internal/render/chromium"
	"seine/internal/testing/browser"
	"seine/pkg/messages"
)

// renders reports whether pages are shown in browsers.
func (r *testbed) renders() bool { return r.counts[messages.StageRenderer] > 0 }

// makeBrowserFolder makes the folder where all renderers have the profiles of their browsers: its name tells the processes of
// these from all others on the machine. It is beside the work folder, since paths of sockets are short, and the browser of a
// process that is root is another user's, who must reach it.
func (r *testbed) makeBrowserFolder() (err error) {
	if !r.renders() {
		return nil
	}
	if r.browsers, err = os.MkdirTemp(filepath.Dir(r.dir), "seine-b-"); err != nil {
		return err
	}
	return os.Chmod(r.browsers, 0o777) //nolint:gosec // see above; names the folder
}

// tryBrowser starts a browser as renderers do, and ends it. A soak whose renderers have none would wait for pages that never come.
// It also removes the profiles of those that were killed.
func (r *testbed) tryBrowser(ctx context.Context) error {
	path, err := chromium.Find("")
	if err != nil {
		return fmt.Errorf("-renderers: %w; scripts/chromium installs it", err)
	}
	b, err := chromium.Start(ctx, chromium.Options{Path: path, Dir: r.browsers})
	if err != nil {
		return fmt.Errorf("-renderers: %w", err)
	}
	b.Close()
	return nil
}

// browsersOf are the main processes of the browsers that a renderer has now: two while it replaces one.
func (r *testbed) browsersOf(renderer string) (pids []int) {
	parent := r.find(renderer).ID()
	for _, pid := range r.browserProcesses() {
		if parent != 0 && procfs.ParentOf(pid) == parent {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// browserProcesses are all processes that have to do with a browser of this soak: its own, and those that would report its crashes.
func (r *testbed) browserProcesses() []int {
	return append(browser.WithArgument("--user-data-dir="+r.browsers), browser.WithArgument("--database="+r.browsers)...)
}

// withBrowser are the browsers of the renderers that have one now, as victims.
func (r *testbed) withBrowser() (victims []string) {
	for _, name := range r.wanted(messages.StageRenderer) {
		if len(r.browsersOf(name)) > 0 {
			victims = append(victims, browserOf+name)
		}
	}
	return victims
}

// browserOf begins the name of a victim that is the browser of a renderer, which may have a fault of its own meanwhile.
const browserOf = "browser of "

// pagesOf are the processes of a browser that have pages.
func pagesOf(browser int) (pids []int) {
	for _, pid := range procfs.InGroup(browser) {
		if slices.Contains(procfs.CommandLine(pid), "--type=renderer") {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// held is a process of a browser that is sent signals by a handle: whoever has its ID after it is spared.
type held struct{ *os.Process }

// hold holds a process of the group of a browser, nil if it has ended.
func hold(pid, browser int) *held {
	if pid == 0 || browser == 0 {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	if procfs.GroupOf(pid) != browser { // looked at after the handle was opened
		_ = p.Release()
		return nil
	}
	return &held{p}
}

// leftoverTime is how long processes may take to be gone behind renderers that have ended.
const leftoverTime = 15 * time.Second

// judgeLeftovers looks for what browsers have left behind when all renderers have ended: no process, and no folder but those of
// renderers that were killed, which the next browser removes.
func (s *session) judgeLeftovers(ctx context.Context) {
	deadline := time.Now().Add(leftoverTime)
	left := s.browserProcesses()
	for len(left) > 0 && time.Now().Before(deadline) && sleep.For(ctx, 200*time.Millisecond) == nil {
		left = s.browserProcesses()
	}
	for _, pid := range left {
		s.Violation("all renderers have ended, and a process of a browser is left: %d %s", pid, strings.Join(procfs.CommandLine(pid), " "))
	}
	if err := s.tryBrowser(ctx); err != nil {
		s.Violation("no browser can be started at the end: %v", err)
	}
	folders, err := os.ReadDir(s.browsers)
	if err != nil || len(folders) > 0 {
		s.Violation("browsers have left folders behind: %v %v", folders, err)
	}
}
