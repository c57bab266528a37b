package mcp_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"seine/internal/render"
	"seine/internal/run/connect"
	"seine/internal/serve"
	"seine/internal/serve/api"
	"seine/internal/serve/audit"
	"seine/internal/serve/cluster"
	"seine/internal/serve/mcp"
	"seine/internal/serve/scrape"
	"seine/internal/serve/snapshots"
)

// connected returns a client of a complete server on a directory without crawls.
func connected(t *testing.T, edit ...func(*serve.Options)) *sdk.ClientSession {
	t.Helper()
	log, dir := slog.New(slog.DiscardHandler), t.TempDir()
	writes, err := audit.Open(filepath.Join(dir, "audit"))
	if err != nil {
		t.Fatal(err)
	}
	scraper, err := scrape.New("", render.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	c := cluster.New(connect.Operator{Data: filepath.Join(dir, "data")}, log)
	a := api.New(api.Options{Cluster: c, Feed: snapshots.New(c, log), Audit: writes, Scraper: scraper, Keys: t.TempDir(), Log: log})
	o := serve.Options{Listen: serve.DefaultListen, Rate: serve.DefaultRate, Audit: writes, Log: log, API: a, Harmless: a.Harmless(), Pages: http.NotFoundHandler()}
	for _, e := range edit {
		e(&o)
	}
	o.MCP = mcp.Handler(mcp.Options{API: o.Calls(), ReadOnly: o.ReadOnly, Log: log})
	srv := httptest.NewServer(serve.Handler(&o))
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: srv.URL + mcp.Path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		srv.Close()
		scraper.Close()
		c.Close()
		_ = writes.Close()
	})
	return session
}

// refusal calls a tool and returns the text of its refusal.
func refusal(t *testing.T, s *sdk.ClientSession, tool string, args any) string {
	t.Helper()
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %.200v: %v", tool, args, err)
	}
	text, ok := result.Content[0].(*sdk.TextContent)
	if !ok || !result.IsError || result.StructuredContent != nil {
		t.Fatalf("%s %.200v is no error: %+v", tool, args, result)
	}
	return text.Text
}

type args = map[string]any

// Invalid arguments are refused with advice in terms of the tools.
func TestHostileArgumentsAreRefusedWithAdvice(t *testing.T) {
	t.Parallel()
	s := connected(t)
	for _, c := range []struct {
		tool   string
		args   any
		advice string
	}{
		{"scrape", args{}, "input schema of the tool"},
		{"scrape", args{"url": 7}, "input schema of the tool"},
		{"scrape", args{"url": "http://a.test/", "colour": "red"}, "input schema of the tool"},
		{"scrape", args{"uri": "http://a.test/"}, "did you mean url? the tool needs url; use"},
		{"explain", args{"crawl": "c", "ulr": "http://a.test/"}, "did you mean url? the tool needs crawl, url; use"},
		{"scrape", args{"url": "http://a.test/", "spec": 7}, "input schema of the tool"},
		{"scrape", args{"url": ""}, "url"},
		{"scrape", args{"url": "nonsense"}, "http"},
		{"scrape", args{"url": "file:///etc/passwd"}, "http"},
		{"scrape", args{"url": "javascript:alert(1)"}, "http"},
		{"scrape", args{"url": "http://a.test/" + strings.Repeat("a", 9000)}, "url"},
		{"scrape", args{"url": "http://127.0.0.1/"}, "--allow-private"},
		{"scrape", args{"url": "http://169.254.169.254/latest/"}, "--allow-private"},
		{"scrape", args{"url": "http://a.test/", "spec": "allow_private: true"}, "--allow-private"},
		{"scrape", args{"url": "http://a.test/", "spec": args{"colour": "red"}}, "colour"},
		{"scrape", args{"url": "http://a.test/", "spec": "scope: any", "crawl": "c"}, "either"},
		{"scrape", args{"url": "http://a.test/", "crawl": "../../status"}, "crawl"},
		{"map", args{"url": "http://a.test/", "limit": -1}, "limit"},
		{"map", args{"url": "http://a.test/", "limit": 1e9}, "limit"},
		{"map", args{"url": "http://a.test/", "limit": 1.5}, "input schema of the tool"},
		{"map", args{"url": "http://a.test/", "cursor": "00"}, "give crawl"},
		{"map", args{"url": "http://a.test/", "crawl": "c", "cursor": "zz"}, "next of the previous page"},
		{"crawl", args{"name": "a b", "seeds": []string{"http://a.test/"}}, "name"},
		{"crawl", args{"name": "c"}, "needs a URL"},
		{"crawl", args{"name": "c", "seeds": []string{"nonsense"}}, "Fix or omit these seeds"},
		{"crawl", args{"name": "c", "seeds": make([]string, 10_001)}, "seeds"},
		{"crawl", args{"name": "c", "seeds": []string{"http://a.test/"}, "idempotency_key": strings.Repeat("k", 300)}, "shorter"},
		{"crawl", args{"name": "c", "seeds": []string{"http://a.test/"}, "idempotency_key": "a\r\nX-Evil: 1"}, ""},
		{"status", args{"crawl": "nobody"}, "the tool crawl starts one"},
		{"status", args{"crawl": "../audit"}, "the tool status lists"},
		{"status", args{"crawl": "a\x00b"}, "crawl"},
		{"status", args{"cursor": strings.Repeat("c", 5000)}, "cursor"},
		{"status", args{"limit": 1000}, "limit"},
		{"explain", args{"crawl": "nobody", "url": "http://a.test/"}, "the tool crawl starts one"},
		{"explain", args{"crawl": "", "url": "http://a.test/"}, "the tool status lists"},
		{"explain", args{"crawl": "..", "url": "http://a.test/"}, "the tool status lists"},
		{"explain", args{"crawl": "nobody"}, "input schema of the tool"},
		{"records", args{"crawl": "a/b?limit=1&kind=x"}, "crawl"},
		{"records", []int{1}, "input schema of the tool"},
	} {
		if text := refusal(t, s, c.tool, c.args); !strings.Contains(text, c.advice) || strings.Contains(text, "/api/v1") {
			t.Errorf("%s %.100v: %q, want %q, and no path of the API", c.tool, c.args, text, c.advice)
		}
	}
}

// A picture format, which the tool cannot return, is refused before anything is fetched.
func TestScrapeRefusesPictures(t *testing.T) {
	t.Parallel()
	s := connected(t)
	for _, format := range []string{"screenshot", "pdf"} {
		if text := refusal(t, s, "scrape", map[string]any{"url": "http://127.0.0.1:1/", "formats": []string{format}}); !strings.Contains(text, "leave out screenshot and pdf") {
			t.Errorf("%s: %s", format, text)
		}
	}
}

// A panic in the call of a tool ends only that call, not the process.
func TestPanicEndsTheCallAlone(t *testing.T) {
	t.Parallel()
	s := connected(t, func(o *serve.Options) {
		o.API = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") })
	})
	for range 2 {
		if text := refusal(t, s, "status", nil); !strings.Contains(text, "ask its operator") || strings.Contains(text, "broken") {
			t.Error(text)
		}
	}
}

// A caller in a loop is told to wait by the tools, as by the API.
func TestCallsOfToolsAreLimited(t *testing.T) {
	t.Parallel()
	s := connected(t, func(o *serve.Options) {
		slow := *o
		slow.Rate = 0.001
		o.API = slow.Calls()
	})
	if result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "status"}); err != nil || result.IsError {
		t.Fatalf("the first call: %v, %v", result, err)
	}
	if text := refusal(t, s, "status", nil); !strings.Contains(text, "wait a second") {
		t.Error(text)
	}
}
