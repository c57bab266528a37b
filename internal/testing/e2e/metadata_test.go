package e2e

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seine/pkg/messages"
)

// catalogue serves linked pages and one that redirects.
func catalogue(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/there", http.StatusMovedPermanently)
		case "/a":
			_, _ = io.WriteString(w, "<h1>a</h1> <a href=/behind-a>b</a>")
		case "/shop":
			_, _ = io.WriteString(w, "<h1>shop</h1> <a href=/p/1>1</a>")
		case "/p/1":
			_, _ = io.WriteString(w, "<h1>first</h1> <a href=/p/2>2</a>")
		case "/p/2", "/there", "/behind-a", "/plain":
			_, _ = io.WriteString(w, "<h1>"+r.URL.Path+"</h1>")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// wantMetadata checks the metadata of records by the paths of their pages.
func wantMetadata(t *testing.T, all []messages.Record, want map[string]messages.Metadata) {
	t.Helper()
	got := make(map[string]messages.Metadata)
	for _, r := range all {
		path := r.URL[strings.LastIndex(r.URL, "://")+len("://"):]
		path = path[strings.Index(path, "/"):]
		if _, twice := got[path]; twice {
			t.Errorf("%s has two records", path)
		}
		got[path] = r.Metadata
	}
	if !maps.EqualFunc(got, want, func(a, b messages.Metadata) bool { return maps.Equal(a, b) }) {
		t.Errorf("records have %v, want %v", got, want)
	}
}

// The metadata of seeds in a spec is in their records, in the records of their redirect targets
// and, on request, in those of linked pages. A replay produces the same records, and a table has
// the metadata as a column.
func TestMetadataOfSeedsIsInTheirRecords(t *testing.T) {
	t.Parallel()
	site, p := catalogue(t), newWorkspace(t)
	spec := file(t, "spec.yaml", `
seeds:
  - {url: "`+site+`/a", metadata: {customer: "17", note: "größe\n"}}
  - {url: "`+site+`/moved", metadata: {customer: 18}}
  - {url: "`+site+`/shop", metadata: {shop: x}, inherit: true}
  - `+site+`/plain
page: {emit: always}
records:
  - {kind: product, match: "/p/*", fields: {title: h1}}
`)
	p.crawl("--spec", spec, "--format", "jsonl.zst").expect(0)
	customer, shop := messages.Metadata{"customer": "17", "note": "größe\n"}, messages.Metadata{"shop": "x"}
	pages := map[string]messages.Metadata{
		"/a": customer, "/behind-a": nil, "/there": {"customer": "18"}, "/shop": shop, "/p/1": shop, "/p/2": shop, "/plain": nil,
	}
	isPage := func(r messages.Record) bool { return r.Status != 0 }
	all := records(t, p.out, "default")
	products := slices.DeleteFunc(slices.Clone(all), isPage)
	wantMetadata(t, products, map[string]messages.Metadata{"/p/1": shop, "/p/2": shop})
	wantMetadata(t, slices.DeleteFunc(all, func(r messages.Record) bool { return !isPage(r) }), pages)

	again := filepath.Join(t.TempDir(), "again")
	seine(t, "", "replay", "parse", "--data", p.data, "--out", again, "--quiet").expect(0)
	wantMetadata(t, slices.DeleteFunc(recordsBy(t, "replay", again, "default"), func(r messages.Record) bool { return !isPage(r) }), pages)

	table := filepath.Join(t.TempDir(), "table")
	seine(t, "", "replay", "parse", "--data", p.data, "--out", table, "--format", "csv", "--path", "{crawl}/{kind}", "--quiet").expect(0)
	for kind, want := range map[string]string{"product": "metadata", "page": "metadata"} {
		files, err := filepath.Glob(filepath.Join(table, "default", kind, "*.csv"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no table: %v", kind, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		header, _, _ := strings.Cut(string(text), "\n")
		if !slices.Contains(strings.Split(strings.TrimSpace(header), ","), want) || !strings.Contains(string(text), `{""shop"":""x""}`) {
			t.Errorf("%s: %s", kind, text)
		}
	}
	c := seine(t, "", "explain", site+"/shop", "--data", p.data)
	c.expect(0)
	if !strings.Contains(c.stdout.String(), "shop=x (inherited") {
		t.Errorf("it is explained as %s", c.stdout)
	}
}

// seine crawl and seine seed read metadata from JSON lines and refuse excess metadata.
func TestMetadataFromLinesOfJSON(t *testing.T) {
	t.Parallel()
	site, p := catalogue(t), newWorkspace(t)
	in, err := os.Open(file(t, "seeds.jsonl", `{"url": "`+site+`/p/2", "metadata": {"customer": "17"}}
{"url": "`+site+`/plain", "metadata": {"customer": 17}}
`+site+`/there
`))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	c := seineFrom(t, in, "crawl", "-", "--data", p.data, "--out", p.out, "--allow-private", "--delay", "0s", "--quiet", "--json")
	c.expect(2)
	c.complains("standard input: line 2", `metadata: "customer" is 17: must be a text, in quotes`)
	wantMetadata(t, records(t, p.out, "default"), map[string]messages.Metadata{"/p/2": {"customer": "17"}, "/there": nil})
}
