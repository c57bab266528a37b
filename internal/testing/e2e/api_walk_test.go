package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"seine/internal/testing/testweb"
)

// A new user gets one page as Markdown, starts a crawl of a site with Markdown output, waits for
// its end through the API, and downloads its files.
func TestNewcomerUsesTheAPI(t *testing.T) {
	t.Parallel()
	site, _ := testSite(t, testweb.Config{PagesPerHost: 5})
	p := newWorkspace(t)
	_, at := served(t, "--data", p.data, "--out", p.out, "--allow-private")
	at += "/api/v1"
	status, page := ask(t, http.MethodPost, at+"/scrape", fmt.Sprintf(`{"url": %q, "formats": ["markdown"]}`, site.pages[1]))
	if markdown, _ := page["markdown"].(string); status != http.StatusOK || !strings.Contains(markdown, "# ") {
		t.Errorf("%d %v", status, page)
	}
	crawl := fmt.Sprintf(`{"name": "site", "seeds": [%q], "spec": {"allow_private": true, "delay": "0s", "page": {"fields": ["url", "title", "markdown"]}}}`, site.seed)
	if status, made := ask(t, http.MethodPost, at+"/crawls", crawl); status != http.StatusCreated {
		t.Fatalf("%d %v", status, made)
	}
	state, pages := "", 0
	eventually(t, patience, "end", func() (bool, string) {
		_, c := ask(t, http.MethodGet, at+"/crawls/site?wait=30s", "")
		state, _ = c["state"].(string)
		n, _ := c["pages"].(float64)
		pages = int(n)
		return state != "running", fmt.Sprint(c)
	})
	if state != "complete" {
		t.Errorf("the crawl is %s", state)
	}
	var items []any
	eventually(t, patience, "have committed a file for each partition with records", func() (bool, string) {
		_, list := ask(t, http.MethodGet, at+"/records?crawl=site&limit=200", "")
		all, _ := list["items"].([]any)
		_, files := ask(t, http.MethodGet, at+"/files?crawl=site", "")
		items, _ = files["items"].([]any)
		return len(all) == pages, fmt.Sprint(len(all), files)
	})
	records := 0
	for _, item := range items {
		f, _ := item.(map[string]any)
		resp, err := http.Get(at + "/files/content?cursor=" + url.QueryEscape(fmt.Sprint(f["cursor"])))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if name := filepath.Base(fmt.Sprint(f["path"])); err != nil || float64(len(content)) != f["bytes"] || !strings.Contains(resp.Header.Get("Content-Disposition"), name) {
			t.Errorf("%v: %d bytes, %v, %v", f, len(content), resp.Header, err)
		}
		n, _ := f["records"].(float64)
		records += int(n)
	}
	_, list := ask(t, http.MethodGet, at+"/records?crawl=site&limit=200", "")
	if all, _ := list["items"].([]any); records == 0 || len(all) != records || !strings.Contains(fmt.Sprint(all[0]), "markdown") {
		t.Errorf("%d records in files, %d by the API", records, len(all))
	}
}
