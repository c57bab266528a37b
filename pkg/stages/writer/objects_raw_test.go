package writer

import (
	"bytes"
	"io"
	"testing"

	"seine/pkg/messages"
)

// The bodies of pages are files, as the site meant them, whether they came in a
// coding, in the message or by way of the object store.
func TestRawObjects(t *testing.T) {
	bus := startBus(t, false)
	cfg := testConfig(t)
	cfg.From, cfg.Format = "pages", "objects.raw"
	publishPages(t, bus, "a", 0, 120)
	gone := pageNo("a", 3)
	gone.page.URL, gone.page.BodyObject = "https://www.example.org/gone", "3/gone"
	gone.page.Visit.URL = messages.HashURL(gone.page.URL)
	check(t, bus.NC.PublishMsg(gone.message(3)))
	w := start(t, bus, cfg)
	w.catchUp()
	w.end()
	wantTidy(t, cfg)
	o := outputOf(t, cfg)
	check(t, o.Verify())
	files := make(map[string][]byte)
	commits, err := cfg.ReadCommits()
	check(t, err)
	for _, c := range commits {
		for _, f := range c.Files {
			in, err := o.Open(f)
			check(t, err)
			files[f.Path], err = io.ReadAll(in)
			check(t, err)
			check(t, in.Close())
		}
	}
	for n := range 120 {
		p := pageNo("a", n)
		path := "a/www.example.org/" + p.page.Visit.URL.String() + ".html"
		if !bytes.Equal(files[path], p.plain) {
			t.Errorf("page %d at %s has %d bytes, want %d", n, path, len(files[path]), len(p.plain))
		}
	}
	if len(files) != 120 || w.Totals().Bad != 1 {
		t.Errorf("%d files, %+v", len(files), w.Totals())
	}
}
