package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.yaml.in/yaml/v4"

	"seine/internal/base/jsontext"
	"seine/internal/ops/history"
	"seine/internal/ops/overview"
	"seine/internal/ops/steer"
	"seine/internal/run/specfile"
	"seine/internal/serve/caller"
	"seine/internal/serve/scrape"
	"seine/pkg/messages"
)

// askFor selects a page and a spec.
type askFor struct {
	URL   string `json:"url" jsonschema:"The URL, with http:// or https://."`
	Spec  any    `json:"spec,omitempty" jsonschema:"A spec, as YAML in a string or as an object: its rules, access and pace hold. Leave it out for the default, which has the whole page as a record."`
	Crawl string `json:"crawl,omitempty" jsonschema:"Instead of a spec: the name of a crawl whose spec holds."`
}

type pageFor struct {
	askFor
	Formats []string `json:"formats,omitempty" jsonschema:"What to return: markdown or html of the main content, text or raw_html of all of the page, links, record (by the rules of the spec); no pictures. markdown without it, and with a spec or crawl also record."`
	Offset  int      `json:"offset,omitempty" jsonschema:"Offset of the next part of a long page, as the previous answer has it."`
	Limit   int      `json:"limit,omitempty" jsonschema:"At most so many characters of text; 20000 without it."`
}

type mapFor struct {
	askFor
	Limit  int    `json:"limit,omitempty" jsonschema:"At most so many URLs, up to 50000; 500 without it."`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the part before; only with a crawl."`
}

type crawlFor struct {
	Name  string   `json:"name" jsonschema:"A new name for the crawl: letters, digits, - and _."`
	Spec  any      `json:"spec,omitempty" jsonschema:"A spec, as YAML in a string or as an object: scope, limits, rules; the resource seine://spec has the keys. Without max_pages, the crawl ends after 1000 pages; 0 removes the limit."`
	Seeds []string `json:"seeds,omitempty" jsonschema:"URLs to begin with; at least one, here or in the spec."`
	Key   string   `json:"idempotency_key,omitempty" jsonschema:"A name of your own for this call: sent again with the same one within a day, nothing is begun twice."`
}

type statusFor struct {
	Crawl  string `json:"crawl,omitempty" jsonschema:"Only this crawl; all crawls, a page at a time, without it."`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before."`
	Limit  int    `json:"limit,omitempty" jsonschema:"At most so many crawls, up to 200; 50 without it."`
}

type explainFor struct {
	Crawl string `json:"crawl" jsonschema:"Name of the crawl."`
	URL   string `json:"url" jsonschema:"The URL to explain."`
	Brief bool   `json:"brief,omitempty" jsonschema:"Only its state, at once: without a look for its requests, pages and records."`
}

type recordsFor struct {
	Crawl  string `json:"crawl,omitempty" jsonschema:"Only of this crawl."`
	Kind   string `json:"kind,omitempty" jsonschema:"Only of this kind; page are those of whole pages."`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before."`
	Limit  int    `json:"limit,omitempty" jsonschema:"At most so many, up to 200; 10 without it."`
}

type cancelFor struct {
	Crawl string `json:"crawl" jsonschema:"Name of the crawl."`
}

// crawls is a list of crawls.
type crawls struct {
	Crawls []overview.Crawl `json:"crawls"`
	Next   string           `json:"next,omitempty" jsonschema:"Give it as cursor to have the next page; absent at the end."`
}

// recordsPage is a page of records.
type recordsPage struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next,omitempty" jsonschema:"Give it as cursor to have the next page; absent at the end. A page without records that has it is not the last."`
}

// Defaults that are smaller than those of the API, because a model reads all of it.
const (
	mapLimit     = 500
	recordsLimit = 10
	pageLimit    = 20_000
	crawlLimit   = 1000
)

// addSpec adds the schema of specs as a resource.
func addSpec(s *sdk.Server) {
	const uri, media = "seine://spec", "application/schema+json"
	s.AddResource(&sdk.Resource{URI: uri, Name: "spec", Title: "Keys of a spec", MIMEType: media, Description: "The JSON Schema of the specs that scrape, map and crawl take."},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: media, Text: string(specfile.Schema)}}}, nil
		})
}

// addTools adds the tools.
func (c *client) addTools(s *sdk.Server) {
	addTool(c, s, &tool[pageFor, scrape.Page]{
		name: "scrape", scope: caller.Scrape, title: "Scrape a page", open: true, plain: true, text: pageText, call: func(ctx context.Context, in *pageFor) (json.RawMessage, error) {
			if len(in.Formats) == 0 {
				if in.Formats = []string{"markdown"}; in.Spec != nil || in.Crawl != "" {
					in.Formats = append(in.Formats, "record")
				}
			}
			if slices.Contains(in.Formats, "screenshot") || slices.Contains(in.Formats, "pdf") {
				return nil, &toolError{"formats: this tool returns text only; leave out screenshot and pdf"}
			}
			in.Limit = cmp.Or(in.Limit, pageLimit)
			return c.post(ctx, "/scrape", in, "")
		},
		about: "Fetch one web page, in no crawl, and read it: its main content as Markdown, records by the rules of a spec, links, and metadata, a part of a long page at a time. " +
			"robots.txt and the host's pace hold, so it may take some seconds. " + dataNotice,
	})
	addTool(c, s, &tool[mapFor, scrape.Map]{
		name: "map", scope: caller.Scrape, title: "List the URLs of a site", open: true, text: mapText, call: func(ctx context.Context, in *mapFor) (json.RawMessage, error) {
			if in.Limit == 0 {
				in.Limit = mapLimit
			}
			return c.post(ctx, "/map", in, "")
		},
		about: "List URLs of a web site from the links of one page and its sitemaps, without fetching them; with a crawl, also the URLs that it knows and their states. " + dataNotice,
	})
	addTool(c, s, &tool[crawlFor, overview.Crawl]{
		name: "crawl", scope: caller.Write, title: "Begin a crawl", open: true, text: crawlText, call: c.begin,
		about: "Start a crawl of web sites under a new name. Returns immediately: the crawl runs in the background, status returns its state, and records the extracted records. " + dataNotice,
	})
	addTool(c, s, &tool[cancelFor, steer.Done]{
		name: "cancel", scope: caller.Write, title: "End a crawl", text: func(d *steer.Done) string { return fmt.Sprintf("crawl %s: %s", d.Crawl, d.State) }, call: func(ctx context.Context, in *cancelFor) (json.RawMessage, error) {
			return c.ofCrawl(ctx, http.MethodPost, in.Crawl, "/cancel", nil)
		},
		about: "Cancel a crawl: its queued URLs are excluded; fetched pages stay.",
	})
	addTool(c, s, &tool[statusFor, crawls]{
		name: "status", scope: caller.Read, title: "How crawls stand", text: crawlsText, call: c.status,
		about: "Return the status of one crawl or all: state, and counts of queued, done, failed (by class) and excluded URLs. A crawl with an end time has finished.",
	})
	addTool(c, s, &tool[explainFor, history.History]{
		name: "explain", scope: caller.Read, title: "History of a URL", text: historyText, call: func(ctx context.Context, in *explainFor) (json.RawMessage, error) {
			return c.ofCrawl(ctx, http.MethodGet, in.Crawl, "/explain", url.Values{"url": {in.URL}, "brief": {strconv.FormatBool(in.Brief)}})
		},
		about: "Explain what happened to a URL in a crawl, and why: its state, requests, page and records; for an unknown URL, similar known URLs. " + dataNotice,
	})
	addTool(c, s, &tool[recordsFor, recordsPage]{
		name: "records", scope: caller.Records, title: "Records of crawls", text: recordsText, call: c.records,
		about: "Read what crawls have extracted and committed to their output, a page at a time. " + dataNotice,
	})
}

// begin starts a crawl.
func (c *client) begin(ctx context.Context, in *crawlFor) (json.RawMessage, error) {
	key := in.Key
	in.Key, in.Spec = "", limited(in.Spec)
	return c.post(ctx, "/crawls", in, key)
}

// limited returns a spec with max_pages, unless it sets that itself. The API reports unreadable
// specs.
func limited(spec any) any {
	if text, ok := spec.(string); ok {
		var all map[string]any
		if yaml.Unmarshal([]byte(text), &all) != nil {
			return spec
		}
		spec = all
	}
	all, ok := spec.(map[string]any)
	if _, says := all["max_pages"]; says || !ok && spec != nil {
		return spec
	}
	all = maps.Clone(all)
	if all == nil {
		all = make(map[string]any)
	}
	all["max_pages"] = crawlLimit
	return all
}

// status returns one crawl in the form of a list.
func (c *client) status(ctx context.Context, in *statusFor) (json.RawMessage, error) {
	if in.Crawl != "" {
		one, err := c.ofCrawl(ctx, http.MethodGet, in.Crawl, "", nil)
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string][]json.RawMessage{"crawls": {one}})
	}
	list, err := c.get(ctx, "/crawls", pageQuery(url.Values{}, in.Cursor, in.Limit))
	if err != nil {
		return nil, err
	}
	var p recordsPage
	if err := jsontext.Unmarshal(list, &p); err != nil {
		return nil, fmt.Errorf("read the list of crawls: %w", err)
	}
	return json.Marshal(map[string]any{"crawls": p.Items, "next": p.Next})
}

// ofCrawl sends a request about a crawl.
func (c *client) ofCrawl(ctx context.Context, method, crawl, path string, query url.Values) (json.RawMessage, error) {
	if err := messages.CheckCrawl(crawl); err != nil { // otherwise the path could be a different one
		return nil, &toolError{fmt.Sprintf("crawl: %v; the tool status lists the crawls that there are", err)}
	}
	if method != http.MethodGet {
		return c.send(ctx, method, "/crawls/"+crawl+path, nil, "")
	}
	return c.get(ctx, "/crawls/"+crawl+path, query)
}

func (c *client) records(ctx context.Context, in *recordsFor) (json.RawMessage, error) {
	if in.Limit == 0 {
		in.Limit = recordsLimit
	}
	q := pageQuery(url.Values{}, in.Cursor, in.Limit)
	for name, value := range map[string]string{"crawl": in.Crawl, "kind": in.Kind} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return c.get(ctx, "/records", q)
}

// pageQuery adds the page parameters of a list.
func pageQuery(q url.Values, cursor string, limit int) url.Values {
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return q
}
