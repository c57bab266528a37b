package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"seine/internal/testing/browser"
	"seine/internal/testing/scriptweb"
	"seine/internal/testing/testweb"
	"seine/internal/testing/vueapp"
	"seine/internal/testing/warctest"
	"seine/pkg/messages"
)

// renderTime limits a crawl that renders about 50 pages: half a minute on a quiet machine, several
// minutes on a busy one.
const renderTime = 5 * time.Minute

// byPath returns records by the path of their URL. Each must be unique.
func byPath(t *testing.T, all []messages.Record, origin string) map[string]messages.Record {
	t.Helper()
	paths := make(map[string]messages.Record)
	for _, r := range all {
		path := strings.TrimPrefix(r.URL, origin)
		if _, twice := paths[path]; twice {
			t.Errorf("%s has two records", path)
		}
		paths[path] = r
	}
	return paths
}

// A shop has pages that are complete without a browser, and empty shells whose links only scripts
// create. With never, half of it is found; with always and auto, all; auto renders few of the
// complete pages.
func TestCrawlRendersWhatNeedsIt(t *testing.T) {
	browser.Path(t)
	t.Parallel()
	const static, app = 12, 3
	for mode, leaves := range map[string]int{"never": 0, "auto": app, "always": app} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := scriptweb.Start(t)
			p := newWorkspace(t)
			p.crawl(w.URL(scriptweb.ShopPath(static, app)), "--render", mode, "--allow-private", "--delay", "0s", "--robots", "ignore", "--browser-tabs", "2").within(renderTime, 0)
			all := byPath(t, records(t, p.out, "default"), w.Origin())
			for n := range app {
				text, leaf := all[fmt.Sprintf("/app/%d", n+1)].Text, all[fmt.Sprintf("/leaf/app-%d", n+1)]
				if found := strings.Contains(text, scriptweb.AppText(n+1)); found != (mode != "never") {
					t.Errorf("app %d has the text %q", n+1, text)
				}
				if (leaf.URL != "") != (mode != "never") {
					t.Errorf("leaf %d: %v", n+1, leaf.URL)
				}
			}
			if len(all) != 1+static+app+leaves {
				t.Errorf("%d records: %v", len(all), slices.Sorted(maps.Keys(all)))
			}
		})
	}
}

// In a Vue application with a router, lazily loaded parts, lists that grow by scrolling and by
// buttons, and an API, every item is found once.
func TestCrawlOfAnApplicationFindsEveryItemOnce(t *testing.T) {
	browser.Path(t)
	t.Parallel()
	app := vueapp.Start(t, 39)
	p := newWorkspace(t)
	spec := file(t, "spec.yaml", `
seeds: ["`+app.URL()+`/"]
allow_private: true
delay: 0s
render:
  mode: always
  actions: [{scroll: 20}, {click: button.more, times: 20}]
`)
	p.crawl("--spec", spec, "--browser-tabs", "4").within(renderTime, 0)
	all := byPath(t, records(t, p.out, "default"), app.URL())
	for _, item := range app.Items() {
		if text := all[item.Path].Text; !strings.Contains(text, item.Description) || !strings.Contains(text, item.Name) {
			t.Errorf("%s has the text %q", item.Path, text)
		}
	}
	if len(all) != len(app.Items())+6 {
		t.Errorf("%d records: %v", len(all), slices.Sorted(maps.Keys(all)))
	}
}

// A rendered page is archived with everything that a replay needs: the original document, its
// subresources, the rendered document and a screenshot. Responses to scripts are parsed as pages if
// the spec asks for it.
func TestArchiveHasWhatARenderedPageIsMadeOf(t *testing.T) {
	browser.Path(t)
	t.Parallel()
	w := scriptweb.Start(t)
	p := newWorkspace(t)
	spec := file(t, "spec.yaml", `
seeds: ["`+w.URL("/fetch-list")+`"]
max_depth: 0
allow_private: true
robots: ignore
render:
  mode: always
  actions: [{screenshot: true}, {click: "#missing", timeout: 1s}]
  pdf: true
  capture: ["/fetch-list/*"]
records:
  - kind: captured
    types: [json]
    match: ["/fetch-list/*"]
    fields: {first: {jq: ".. | strings"}}
`)
	dir := filepath.Join(t.TempDir(), "archive")
	p.crawl("--spec", spec, "--warc", dir).within(renderTime, 0)
	archive := archiveOf(t, dir)
	page, data := archive.pages[w.URL("/fetch-list")], archive.pages[w.URL("/fetch-list/items.json")]
	if page == nil || bytes.Contains(page.Payload(), []byte("fetched item one")) || page.Type() != "response" {
		t.Errorf("the document as it came is %+v", page)
	}
	if data == nil || !bytes.Contains(data.Payload(), []byte("fetched item one")) || data.Type() != "response" {
		t.Errorf("what the page asked for is %+v", data)
	}
	views := archive.resources()
	for target, begin := range map[string]string{"urn:dom:": "<!DOCTYPE html>", "urn:view:": "\x89PNG", "urn:pdf:": "%PDF-"} {
		if r := views[target+w.URL("/fetch-list")]; r == nil || !bytes.HasPrefix(r.Block, []byte(begin)) {
			t.Errorf("%s is %.200q", target, r)
		}
	}
	if text := runSeine(t, "explain", w.URL("/fetch-list"), "--data", p.data).stdout.String(); !strings.Contains(text, "1 screenshot: taken; 2 click #missing: clicked 0, then not found") {
		t.Errorf("explain does not say what the actions did:\n%s", text)
	}
	var captured int
	all := everyLine(t, p.out)
	for _, r := range all {
		if r["kind"] == "captured" {
			captured++
		}
	}
	if captured != 1 {
		t.Errorf("%d records of what the page asked for: %v", captured, all)
	}
}

// If its spec says so, a crawl treats routes in fragments, which no server or archive sees, as
// pages of their own. Otherwise they are one page.
func TestCrawlOfHashRoutes(t *testing.T) {
	browser.Path(t)
	t.Parallel()
	for _, routes := range []bool{true, false} {
		w := scriptweb.Start(t)
		p := newWorkspace(t)
		spec := file(t, "spec.yaml", fmt.Sprintf(`
seeds: ["%s"]
allow_private: true
delay: 0s
normalize: {hash_routes: %t}
render: always
`, w.URL("/hash-router"), routes))
		dir := filepath.Join(t.TempDir(), "archive")
		p.crawl("--spec", spec, "--warc", dir, "--browser-tabs", "1").within(renderTime, 0)
		all := byPath(t, records(t, p.out, "default"), w.Origin())
		want := []string{"/hash-router", "/leaf/hash-router"}
		if routes {
			want = []string{"/hash-router", "/hash-router#/about", "/leaf/hash-router"}
		}
		if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
			t.Errorf("routes %v: %v", routes, got)
		}
		if text := all["/hash-router"].Text; !strings.Contains(text, "hash view of the list") {
			t.Errorf("the page has the text %q", text)
		}
		about := runSeine(t, "explain", w.URL("/hash-router#/about"), "--data", p.data).stdout.String()
		if routes && (!strings.Contains(all["/hash-router#/about"].Text, "hash view of about") || !strings.Contains(about, "hash-router#/about")) {
			t.Errorf("the route has the text %q\n%s", all["/hash-router#/about"].Text, about)
		}
		archive := archiveOf(t, dir)
		if archive.pages[w.URL("/hash-router")] == nil || archive.pages[w.URL("/hash-router#/about")] != nil {
			t.Errorf("routes %v: the archive has %v", routes, slices.Sorted(maps.Keys(archive.pages)))
		}
	}
}

// everyLine reads all record files of an output.
func everyLine(t *testing.T, out string) (all []map[string]any) {
	t.Helper()
	err := filepath.WalkDir(out, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.Contains(filepath.Base(path), ".jsonl") {
			all = append(all, lines(t, path)...)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Killing a browser, or the process together with its browser, loses only the pages in rendering:
// they are visited again, and the output has each once.
func TestKilledBrowserLosesAndRepeatsNothing(t *testing.T) {
	browser.Path(t)
	t.Parallel()
	const pages = 20
	w := scriptweb.Start(t)
	p := newWorkspace(t)
	browsers := browser.Folder(t)
	args := []string{w.URL(scriptweb.LightPath(pages)), "--render", "always", "--allow-private", "--delay", "0s", "--per-host", "4", "--robots", "ignore",
		"--browser-tabs", "2", "--browser-dir", browsers}
	for _, kill := range []string{"process", "browser"} {
		c, target := p.crawl(args...), visits(w)+5
		eventually(t, patience, "show some pages", func() (bool, string) {
			return visits(w) >= target && len(browser.Processes(browsers)) > 0 || c.ended(), c.said()
		})
		if kill == "process" {
			c.signal(os.Kill)
			c.expect(-1)
			continue
		}
		for _, id := range browser.Processes(browsers) {
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
		c.within(renderTime, 0)
	}
	all := byPath(t, records(t, p.out, "default"), w.Origin())
	for n := range pages {
		if text := all[fmt.Sprintf("/light/%d", n+1)].Text; !strings.Contains(text, scriptweb.LightText(n+1)) {
			t.Errorf("page %d has the text %q", n+1, text)
		}
	}
	eventually(t, patience, "all browsers have ended", func() (bool, string) { return len(browser.Processes(browsers)) == 0, "" })
	if left, _ := os.ReadDir(browsers); len(left) > 0 {
		t.Errorf("the browsers leave %v", left)
	}
}

func visits(w *scriptweb.Web) int {
	return len(w.Select(func(r *testweb.Request) bool { return strings.HasPrefix(r.Path, "/light/") }))
}

// resources returns the archive's resource records by target.
func (c *captures) resources() map[string]*warctest.Record {
	c.t.Helper()
	found := make(map[string]*warctest.Record)
	for _, name := range c.files {
		content, err := os.ReadFile(name)
		if err != nil {
			c.t.Fatal(err)
		}
		all, err := warctest.All(name, bytes.NewReader(content))
		if err != nil {
			c.t.Fatal(err)
		}
		for _, r := range all {
			if r.Type() == "resource" {
				found[r.Get("WARC-Target-URI")] = r
			}
		}
	}
	return found
}
