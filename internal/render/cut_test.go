//go:build unix

package render

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"seine/internal/testing/scriptweb"
	"seine/pkg/crawlspec"
)

// A browser that hangs until the time for the page is over has rendered none or half of it: no such
// page may be returned.
func TestPageOfABrowserThatHangsIsWholeOrFails(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Tabs: 1, Pages: 1000})
	w := scriptweb.Start(t)
	for _, hangs := range []time.Duration{1100 * time.Millisecond, 3 * time.Second} {
		job := jobFor(t, w, scriptweb.Named("fetch-list"))
		if _, err := r.Render(t.Context(), job); err != nil { // in the browser that will hang
			t.Fatal(err)
		}
		job.Main.Body = longDocument()
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
		case !bytes.Contains(page.HTML, []byte(documentEnd)):
			t.Errorf("it hangs for %s, and %d bytes of the page are taken for all", hangs, len(page.HTML))
		}
	}
}

const documentEnd = "the end of the document"

// longDocument returns a document that a browser needs some time to parse.
func longDocument() []byte {
	paragraph := "<p>a paragraph</p><!-- " + strings.Repeat("padding ", 128) + "-->\n"
	return []byte("<!doctype html><title>Long</title>" + strings.Repeat(paragraph, 20_000) + "<p>" + documentEnd)
}
