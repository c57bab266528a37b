package crawl

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// The summary of an interrupted crawl counts the pages that were in flight, because their records
// are in the output.
func TestSummaryOfAnInterruptedCrawlCountsWhatWasInFlight(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			_, _ = io.WriteString(w, `<a href="/held">held</a>`)
		case "/held":
			interrupt()
			_, _ = io.WriteString(w, "text")
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	dir := t.TempDir()
	o := DefaultOptions("c", filepath.Join(dir, "data"))
	o.Listen, o.Writer.Out, o.Seeds = "127.0.0.1:0", filepath.Join(dir, "out"), []messages.Seed{{URL: site.URL + "/"}}
	o.Chain = true
	o.Spec = func(have crawlspec.Spec) (*crawlspec.Spec, error) {
		have.Delay, have.AllowPrivate = 0, true
		return &have, nil
	}
	s, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Pages != 2 || s.Records != 2 || s.URLs.Done != 2 || s.URLs.Open != 0 || s.Requests[messages.OK] != 2 {
		t.Errorf("%d pages, %d records, requests %v, URLs %+v; want 2 of each", s.Pages, s.Records, s.Requests, s.URLs)
	}
}
