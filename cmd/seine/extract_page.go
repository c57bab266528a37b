package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"seine/internal/base/safeprint"
	"seine/internal/base/weburl"
	"seine/internal/ops/overview"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages/fetcher"
)

// fetched is a page from the web or from a file.
type fetched struct {
	fetcher.Fetched
	file string // source file; "" for none
}

func isURL(s string) bool {
	scheme, _, found := strings.Cut(s, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// get gets the page.
func (c *extractCmd) get(ctx context.Context, spec *crawlspec.Spec) (*fetched, error) {
	if isURL(c.Page) {
		return c.fetch(ctx, spec)
	}
	body, err := readPage(c.Page, int64(spec.Largest().MaxBody))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError{fmt.Errorf("%w (a URL begins with https:// or http://)", err)}
	}
	if err != nil {
		return nil, err
	}
	url, err := c.standsFor()
	if err != nil {
		return nil, usageError{err}
	}
	out := &fetched{file: c.Page}
	out.Body = body
	out.Page = messages.Page{
		V: messages.Version, Crawl: "once", URL: url, Status: 200, ContentType: c.contentType(),
		FetchedAt: c.since(), BodySize: int64(len(body)),
	}
	if out.Page.ContentType != "" {
		out.Page.Header = map[string][]string{"Content-Type": {out.Page.ContentType}}
	}
	return out, nil
}

func (c *extractCmd) fetch(ctx context.Context, spec *crawlspec.Spec) (*fetched, error) {
	if c.URL != "" || c.Type != "" {
		return nil, usageError{errors.New("--url and --type are for files, not for URLs")}
	}
	url, err := crawlspec.Canonical(spec, c.Page)
	if err != nil {
		return nil, usageError{err}
	}
	cfg := fetcher.DefaultConfig()
	cfg.Secrets = c.Secrets
	if err := cfg.Validate(); err != nil {
		return nil, usageError{err}
	}
	wait := func(d time.Duration) {
		if isTerminal(os.Stderr) {
			safeprint.Fprintf(os.Stderr, "robots.txt is read; the host rests for %s\n", d)
		}
	}
	got, err := fetcher.FetchOne(ctx, cfg, c.Browser, spec, url, wait)
	if err != nil {
		return nil, hint(err)
	}
	if got.Withheld != "" {
		safeprint.Fprintln(os.Stderr, "seine:", got.Withheld)
	}
	return &fetched{Fetched: *got}, nil
}

// hint adds a remedy to an error.
func hint(err error) error {
	failed, ok := errors.AsType[*fetcher.FetchError](err)
	if !ok {
		return err
	}
	switch failed.Class {
	case messages.RefusedAddress:
		return fmt.Errorf("%w (--allow-private permits the request)", err)
	case messages.RobotsDenied:
		return fmt.Errorf("%w (--robots ignore, if the site is yours)", err)
	case messages.UnsupportedType:
		return fmt.Errorf("%w (write its type into accept of the spec)", err)
	}
	if remedy := overview.Remedies[failed.Class]; remedy != "" {
		return fmt.Errorf("%w (%s)", err, remedy)
	}
	return err
}

// readPage reads a file of at most so many bytes.
func readPage(name string, most int64) ([]byte, error) {
	var in io.Reader = os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	body, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("%s is over the limit of %s (max_body)", name, crawlspec.Bytes(most))
	}
	return body, nil
}

// since returns when a file was written, which stands for when it was fetched.
func (c *extractCmd) since() time.Time {
	if t, _ := changed(c.Page); c.Page != "-" && !t.IsZero() {
		return t.UTC()
	}
	return time.Now().UTC()
}

// standsFor returns the URL of a file: that of --url, else one that no page has (RFC 2606).
func (c *extractCmd) standsFor() (string, error) {
	if c.URL != "" {
		url, err := weburl.Canonicalize(c.URL)
		if err != nil {
			return "", fmt.Errorf("--url: %w", err)
		}
		return url, nil
	}
	name := filepath.Base(c.Page)
	if c.Page == "-" {
		name = ""
	}
	return weburl.Canonicalize("https://file.invalid/" + strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(name))
}

// types maps the values of --type, and file extensions, to media types.
var types = map[string]string{
	"html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml", "xml": "application/xml",
	"json": "application/json", "ndjson": "application/x-ndjson", "jsonl": "application/x-ndjson",
	"feed": "application/rss+xml", "rss": "application/rss+xml", "atom": "application/atom+xml",
	"csv": "text/csv", "tsv": "text/tab-separated-values", "text": "text/plain", "txt": "text/plain",
}

// contentType returns the Content-Type that a response would have; "" leaves it to content
// detection.
func (c *extractCmd) contentType() string {
	if c.Type == "" {
		return types[strings.ToLower(strings.TrimPrefix(filepath.Ext(c.Page), "."))]
	}
	if t, ok := types[c.Type]; ok {
		return t
	}
	return c.Type
}
