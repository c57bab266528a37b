//go:build unix

package render

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"seine/internal/testing/scriptweb"
	"seine/pkg/crawlspec"
)

// A browser that hangs until the time for the page is over has shown nothing of it, or the half: no such page may come of it.
func TestPageOfABrowserThatHangsIsWholeOrFails(t *testing.T) {
	r := start(t, Config{Tabs: 1, Pages: 1000})
	w := scriptweb.Start(t)
	p := scriptweb.Named("fetch-list")
	for _, hangs := range []time.Duration{1100 * time.Millisecond, 3 * time.Second} {
		job := jobFor(t, w, p)
		if _, err := r.Render(t.Context(), job); err != nil { // in the browser that is to hang
			t.Fatal(err)
		}
		job.How.Timeout = crawlspec.Duration(time.Second)
		id := r.browser.ID()
		_ = syscall.Kill(id, syscall.SIGSTOP)
		time.AfterFunc(hangs, func() { _ = syscall.Kill(id, syscall.SIGCONT) })
		page, err := r.Render(t.Context(), job)
		var failed *Error
		switch {
		case errors.As(err, &failed):
		case err != nil:
			t.Fatal(err)
		default: // what its scripts add may be missing, but not the document
			if text, _ := read(t, job.Main.URL, page.HTML); len(text) == 0 {
				t.Errorf("it hangs for %s, and the page is %q", hangs, page.HTML)
			}
		}
	}
}
