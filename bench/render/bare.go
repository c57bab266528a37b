package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"seine/internal/render/chromium"
)

// bare is what a user of chromedp would write: a browser with so many tabs, in each of which one page after the other is
// opened. It has none of Seine's guards, and forgets nothing between two pages.
type bare struct {
	until string
	tabs  chan context.Context
	end   func()
}

// nobody is the user that root's browser runs as, as Seine's does: the sandbox of Chromium refuses root.
const nobody = 65534

func startBare(s setup) (browser, error) {
	path, err := chromium.Find(s.path)
	if err != nil {
		return nil, err
	}
	profile, err := openProfile(s.work)
	if err != nil {
		return nil, err
	}
	var group *exec.Cmd
	runAs := func(cmd *exec.Cmd) { runAsNobody(cmd); group = cmd }
	all, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.Env("HOME="+profile, "TMPDIR="+profile), chromedp.ModifyCmdFunc(runAs))...)
	b := &bare{until: s.until, tabs: make(chan context.Context, s.tabs), end: func() { end(); endGroup(group, profile) }}
	first, _ := chromedp.NewContext(all) //nolint:govet // all end with the allocator
	tab := first
	for n := range s.tabs {
		if n > 0 && s.windows {
			tab, err = newWindow(first)
		} else if n > 0 {
			tab, _ = chromedp.NewContext(first) //nolint:govet // as above
		}
		if err == nil {
			err = chromedp.Run(tab, page.SetLifecycleEventsEnabled(true))
		}
		if err != nil {
			b.end()
			return nil, fmt.Errorf("open a tab: %w", err)
		}
		b.tabs <- tab
	}
	return b, nil
}

// newWindow opens a tab in a window of its own, where it is in front and painted, as Seine's are.
func newWindow(first context.Context) (tab context.Context, err error) {
	var id target.ID
	err = chromedp.Run(first, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		id, err = target.CreateTarget("about:blank").WithNewWindow(true).Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
		return err
	}))
	tab, _ = chromedp.NewContext(first, chromedp.WithTargetID(id)) //nolint:govet // it ends with the allocator
	return tab, err
}

// openProfile makes a folder that the browser's user may use. It goes with the work folder at the latest.
func openProfile(work string) (string, error) {
	profile, err := os.MkdirTemp(work, "chromedp-")
	if err == nil {
		err = os.Chmod(work, 0o711) //nolint:gosec // root's browser is another user's
	}
	if err == nil && os.Geteuid() == 0 {
		err = os.Chown(profile, nobody, nobody)
	}
	if err != nil {
		return "", fmt.Errorf("make a folder for the browser: %w", err)
	}
	return profile, nil
}

func runAsNobody(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
}

// endGroup ends what a browser has left, and removes its folder, which those may still write to for a moment.
func endGroup(cmd *exec.Cmd, profile string) {
	if cmd != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	for range 50 {
		_ = os.RemoveAll(profile)
		time.Sleep(20 * time.Millisecond)
		if _, err := os.Stat(profile); err != nil {
			return
		}
	}
}

func (b *bare) show(_ context.Context, url string) (html string, err error) {
	tab := <-b.tabs
	defer func() { b.tabs <- tab }()
	open := chromedp.Navigate(url) // which waits for the load event
	if b.until == "idle" {
		open = navigateUntilIdle(url)
	}
	return html, chromedp.Run(tab, open, chromedp.OuterHTML("html", &html, chromedp.ByQuery))
}

// navigateUntilIdle opens a page and waits until its network is idle: no request for half a second, as Chromium counts.
func navigateUntilIdle(url string) chromedp.NavigateAction {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		idle := make(chan cdp.LoaderID, 100)
		chromedp.ListenTarget(ctx, func(event any) {
			if e, ok := event.(*page.EventLifecycleEvent); ok && e.Name == "networkIdle" {
				idle <- e.LoaderID
			}
		})
		_, loader, failed, _, err := page.Navigate(url).Do(ctx)
		if err != nil || failed != "" {
			return fmt.Errorf("open %s: %s %w", url, failed, err)
		}
		for {
			select {
			case l := <-idle:
				if l == loader {
					return nil
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
}

func (b *bare) close() { b.end() }
