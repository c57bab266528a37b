//go:build unix

package render

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"seine/internal/base/procfs"
	"seine/internal/testing/browser"
	"seine/pkg/crawlspec"
)

// stoppedFor is how long a process of the browser is stopped: longer than a page is quiet before it
// counts as idle.
const stoppedFor = 2 * time.Second

// A busy machine may give no time to one process of a browser while the others run. The page's
// requests are awaited nevertheless: if the request has not left the browser yet, if the response
// has not reached the page, and if the request is sent after the next frame.
func TestIdlePageHasWhatAStoppedProcessBringsLate(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	const networkProcess, frameProcess = "--utility-sub-type=network.mojom.NetworkService", "--type=gpu-process"
	const show = `.then(() => document.body.append('all', 'of', 'it'))`
	dir := browser.Folder(t)
	r := start(t, Config{Tabs: 1, Pages: 1000, Dir: dir})
	for name, c := range map[string]struct {
		script  string
		process string        // that stops when /first is requested
		after   time.Duration // or this much later
	}{
		"request": {"fetch('/first').then(() => setTimeout(() => fetch('/second')" + show + ", 300))", networkProcess, 100 * time.Millisecond},
		"answer":  {"fetch('/first')" + show, networkProcess, 0},
		"frame": {`const frame = () => new Promise(requestAnimationFrame)
		fetch('/first').then(frame).then(frame).then(frame).then(() => new IntersectionObserver((entries, o) => {
			if (entries[0].isIntersecting) { o.disconnect(); fetch('/second')` + show + ` }
		}).observe(document.querySelector('p')))`, frameProcess, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var stopped sync.WaitGroup
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.URL.Path == "/first" {
					stopped.Add(1)
					stop := func() { stopProcess(t, dir, c.process, stopped.Done) }
					if c.after == 0 {
						stop()
					} else {
						time.AfterFunc(c.after, stop)
					}
				}
				fmt.Fprint(w, "answer")
			}))
			defer web.Close()
			html, asked := showBare(t, r, web.URL, "/", "<!doctype html><title>late</title><body><p>seen</p><script>"+c.script+"</script>", crawlspec.UntilIdle)
			stopped.Wait()
			if !strings.Contains(html, "allofit") {
				t.Errorf("%q are asked for, and this is taken for the page: %s", asked, html)
			}
		})
	}
}

// stopProcess stops a browser process for a while. It selects the process by the browser's profile
// directory and by an option of its command line.
func stopProcess(t *testing.T, dir, option string, goesOn func()) {
	for id := range descendants(dir) {
		if slices.Contains(procfs.CommandLine(id), option) {
			_ = syscall.Kill(id, syscall.SIGSTOP)
			time.AfterFunc(stoppedFor, func() { _ = syscall.Kill(id, syscall.SIGCONT); goesOn() })
			return
		}
	}
	t.Errorf("the browser has no process with %s", option)
	goesOn()
}
