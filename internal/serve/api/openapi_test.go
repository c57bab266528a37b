package api_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Operations answer as the OpenAPI document describes: each answer about a crawl that has something
// of everything is validated against its schema.
func TestAnswersAreAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	s, seed, data := crawled(t)
	s.spoil(data, "shop", 3)
	text := s.want(200, nil, "GET", "/openapi.json", "").text
	if bytes.Count(text, []byte("application/octet-stream")) != 1 { // of a download
		t.Error("a body is binary data, so that clients made from the document want a file for it")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	schemas := jsonschema.NewCompiler()
	if err := schemas.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	yaml, plain := []string{"Content-Type", "application/yaml"}, []string{"Content-Type", "text/plain"}
	single := `{"url": "` + seed + `/1", "spec": {"allow_private": true, "delay": "0s", "records": [{"kind": "p", "fields": {"n": "h1"}}]}}`
	for _, c := range []struct {
		method, template, path, body string
		status                       string
		header                       []string
	}{
		{"get", "/status", "/status", "", "200", nil},
		{"get", "/stats", "/stats", "", "200", nil},
		{"get", "/crawls", "/crawls", "", "200", nil},
		{"get", "/crawls/{crawl}", "/crawls/shop", "", "200", nil},
		{"get", "/crawls/{crawl}/runs", "/crawls/shop/runs", "", "200", nil},
		{"get", "/crawls/{crawl}/reasons", "/crawls/shop/reasons", "", "200", nil},
		{"get", "/crawls/{crawl}/failures", "/crawls/shop/failures", "", "200", nil},
		{"get", "/crawls/{crawl}/explain", "/crawls/shop/explain?url=" + seed + "/3", "", "200", nil},
		{"get", "/crawls/{crawl}/explain", "/crawls/shop/explain?url=" + seed + "/broken", "", "200", nil},
		{"get", "/crawls/{crawl}/spec", "/crawls/shop/spec", "", "200", nil},
		{"get", "/crawls/{crawl}/spec/revisions", "/crawls/shop/spec/revisions", "", "200", nil},
		{"post", "/crawls/{crawl}/spec/diff", "/crawls/shop/spec/diff", "scope: any", "200", yaml},
		{"post", "/specs/check", "/specs/check", "scope: moon", "200", yaml},
		{"post", "/specs/check", "/specs/check", "scope: any", "200", yaml},
		{"get", "/hosts", "/hosts", "", "200", nil},
		{"get", "/processes", "/processes", "", "200", nil},
		{"post", "/processes/{id}/drain", "/processes/none/drain", "", "404", nil},
		{"get", "/hosts/{host}", "/hosts/" + strings.TrimPrefix(seed, "http://"), "", "200", nil},
		{"get", "/dead-letters", "/dead-letters", "", "200", nil},
		{"get", "/dead-letters/count", "/dead-letters/count", "", "200", nil},
		{"get", "/dead-letters/{seq}", "/dead-letters/1", "", "200", nil},
		{"post", "/dead-letters/drop", "/dead-letters/drop", `{"seqs": [1]}`, "200", nil},
		{"get", "/records", "/records", "", "200", nil},
		{"get", "/files", "/files", "", "200", nil},
		{"post", "/crawls/{crawl}/seeds", "/crawls/shop/seeds?verdicts=all", seed + "/x\nnonsense", "200", plain},
		{"post", "/crawls/{crawl}/pause", "/crawls/shop/pause", "", "200", nil},
		{"post", "/crawls/{crawl}/resume", "/crawls/shop/resume", "", "200", nil},
		{"post", "/scrape", "/scrape", single, "200", nil},
		{"post", "/scrape/batch", "/scrape/batch", strings.Replace(strings.Replace(single, `"url": `, `"urls": ["http://a.invalid/", `, 1), `/1"`, `/1"]`, 1), "200", nil},
		{"post", "/map", "/map", strings.Replace(single, "/1\"", "/\"", 1), "200", nil},
		{"post", "/map", "/map", `{"url": "` + seed + `/", "crawl": "shop"}`, "200", nil},
		{"post", "/webhooks", "/webhooks", `{"name": "a", "url": "` + seed + `", "events": ["crawl.ended"]}`, "201", nil},
		{"get", "/webhooks", "/webhooks", "", "200", nil},
		{"post", "/webhooks/{webhook}/secret", "/webhooks/a/secret", "", "200", nil},
		{"delete", "/webhooks/{webhook}", "/webhooks/none", "", "404", nil},
		{"post", "/crawls/{crawl}/replays/check", "/crawls/shop/replays/check", `{"of": "pages"}`, "200", nil},
		{"post", "/crawls/{crawl}/replays", "/crawls/shop/replays", `{"of": "pages", "spec": {"scope": "any"}}`, "202", nil},
		{"get", "/crawls/{crawl}/replays", "/crawls/shop/replays", "", "200", nil},
		{"delete", "/crawls/{crawl}/replays/{replay}", "/crawls/shop/replays/none", "", "404", nil},
		{"get", "/audit", "/audit", "", "200", nil},
		{"get", "/crawls/{crawl}", "/crawls/nobody", "", "404", nil},
		{"get", "/crawls", "/crawls?limit=x", "", "422", nil},
	} {
		a := s.do(strings.ToUpper(c.method), c.path, c.body, c.header...)
		kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
		escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
		at := "openapi.json#/paths/" + escape.Replace("/api/v1"+c.template) + "/" + c.method + "/responses/" + c.status + "/content/" + escape.Replace(kind) + "/schema"
		schema, err := schemas.Compile(at)
		if err != nil {
			t.Errorf("%s %s: %v: %v", c.method, c.path, a, err)
			continue
		}
		answered, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.text))
		if err == nil {
			err = schema.Validate(answered)
		}
		if err != nil {
			t.Errorf("%s %s: %v\n%.1500s", c.method, c.path, err, a)
		}
	}
	var operations struct {
		Paths map[string]map[string]struct{ OperationID, Summary string }
	}
	if err := json.Unmarshal(text, &operations); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for path, of := range operations.Paths {
		for method, op := range of {
			if op.OperationID == "" || op.Summary == "" || seen[op.OperationID] {
				t.Errorf("%s %s has the name %q, which another has, or none", method, path, op.OperationID)
			}
			seen[op.OperationID] = true
		}
	}
}

// The document lists the values of each closed set completely.
func TestTheDocumentListsTheValuesOfClosedSets(t *testing.T) {
	t.Parallel()
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Enum  []string
					Items struct{ Enum []string }
				}
			}
		}
	}
	if err := json.Unmarshal(newServer(t, t.TempDir()).want(200, nil, "GET", "/openapi.json", "").text, &doc); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"Crawl.state": "running paused cancelled blocked deleting empty complete pages_limit bytes_limit time_limit", "Crawl.end": "empty complete pages_limit bytes_limit time_limit", "Status.mode": "running stored empty away",
		"AlertsAlert.alert": "error_rate no_progress lag stream_full disk memory dead_letters yield blocked login",
		"NewWebhook.events": "crawl.ended records",
	} {
		of, property, _ := strings.Cut(at, ".")
		p := doc.Components.Schemas[of].Properties[property]
		if got := strings.Join(append(p.Enum, p.Items.Enum...), " "); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}
