package writer

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"seine/internal/output/format"
	"seine/internal/testing/outputtest"
	"seine/internal/testing/s3server"
	"seine/pkg/messages"
)

// Bodies of pages become files with the decoded content, whether they arrived with a content
// coding, in the message or through the object store.
func TestRawObjects(t *testing.T) {
	t.Parallel()
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
	check(t, outputtest.Verify(o))
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

// In S3, objects have their media type and URL as metadata. Encrypted objects have neither.
func TestObjectsInS3SayTheirTypeAndURL(t *testing.T) {
	t.Parallel()
	server := s3server.Start(t)
	bus := startBus(t, false)
	publishPages(t, bus, "a", 0, 1)
	publish(t, bus, "a", 1, 2)
	page := pageNo("a", 0).page
	raw := fmt.Sprintf("a/www.example.org/%s.html", page.Visit.URL)
	for _, tt := range []struct{ from, format, key, encrypt, path, wantType, wantURL string }{
		{"pages", "objects.raw", "", "", raw, page.ContentType, page.URL},
		{"records", "objects", "{crawl}/{field:n}.json", "", "a/1.json", "application/json", "https://a.example/1"},
		{"pages", "objects.raw", "", testRecipient, raw + ".age", format.AnyType, ""},
		{"records", "objects", "{crawl}/{field:n}.json", testRecipient, "a/1.json.age", format.AnyType, ""},
	} {
		cfg := onS3(t, server)
		cfg.From, cfg.Format, cfg.Key = tt.from, tt.format, tt.key
		if tt.encrypt != "" {
			cfg.Encrypt = []string{tt.encrypt}
		}
		cfg.Name = fmt.Sprintf("w-%s-%t", tt.from, tt.encrypt != "")
		w := start(t, bus, cfg)
		w.catchUp()
		w.end()
		head := server.Head(cfg.Out, tt.path)
		if got := head.Metadata["seine-url"]; got != tt.wantURL || aws.ToString(head.ContentType) != tt.wantType || aws.ToString(head.ContentEncoding) != "" {
			t.Errorf("%s of %s: type %q, metadata %v, want %q of %q", tt.path, tt.from, aws.ToString(head.ContentType), head.Metadata, tt.wantType, tt.wantURL)
		}
	}
}
