package api_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"seine/internal/render"
	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/scrape"
	"seine/internal/testing/browser"
)

// Each operation answers or refuses each format, whatever the spec's render mode: a picture makes
// it render the page, and without a browser the answer has advice.
func TestFormats_EachOperation_AnsweredOrRefused(t *testing.T) {
	t.Parallel()
	seed := site(t)
	for name, cfg := range map[string]render.Config{"no browser": {Path: filepath.Join(t.TempDir(), "none"), Tabs: 1}, "browser": render.DefaultConfig()} {
		t.Run(name, func(t *testing.T) {
			if name == "browser" {
				cfg.Path = browser.Path(t)
			}
			s := newServer(t, filepath.Join(t.TempDir(), "data"), func(_ *serve.Options, o *api.Options) {
				o.Scraper.Close()
				var err error
				if o.Scraper, err = scrape.New("", cfg); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(o.Scraper.Close)
			})
			for _, format := range strings.Fields("markdown text html raw_html links record screenshot pdf") {
				for _, spec := range []string{"", "render: never", "render: {mode: never, modes: [{match: '*', mode: never}]}"} {
					for _, path := range []string{"/scrape", "/scrape/batch"} {
						picture := format == "screenshot" || format == "pdf"
						want := 200
						if picture && name == "no browser" {
							want = 422
						}
						status, page, detail := scraped(t, s, path, seed+"/1", "allow_private: true\ndelay: 0s\n"+spec, format)
						if status != want || want == 422 && !strings.Contains(detail, "need a browser") || picture && want == 200 && len(page[format]) < 100 {
							t.Errorf("%s %s %q: %d %s %.300s", path, format, spec, status, detail, page)
						}
					}
				}
			}
		})
	}
}

// scraped requests a page through one of the operations. It returns the page, or the status and
// detail of a problem.
func scraped(t *testing.T, s *server, path, url, spec, format string) (status int, page map[string]json.RawMessage, detail string) {
	t.Helper()
	type problem struct {
		Status int
		Detail string
	}
	if path == "/scrape" {
		a := s.do("POST", path, fmt.Sprintf(`{"url": %q, "spec": %q, "formats": [%q]}`, url, spec, format))
		if a.status != 200 {
			return a.status, nil, s.problemOf(a)
		}
		if err := json.Unmarshal(a.text, &page); err != nil {
			t.Error(err)
		}
		return a.status, page, ""
	}
	var out struct {
		Results []struct {
			Page    map[string]json.RawMessage
			Problem problem
		}
	}
	s.want(200, &out, "POST", path, fmt.Sprintf(`{"urls": [%q], "spec": %q, "formats": [%q]}`, url, spec, format))
	r := out.Results[0]
	if r.Problem.Status != 0 {
		return r.Problem.Status, nil, r.Problem.Detail
	}
	return 200, r.Page, ""
}
