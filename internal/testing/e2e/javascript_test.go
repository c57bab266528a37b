package e2e

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/samplesites"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
	"seine/pkg/stages/frontier/frontierapi"
)

// leastNode is the oldest Node.js version that the example supports.
const leastNode = 20

// nodeStage installs the stage of examples/javascript with its packages and returns its folder.
// Without Node.js the test fails in CI and is skipped elsewhere.
func nodeStage(t *testing.T) string {
	t.Helper()
	missing := func(why string) {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s: scripts/node installs it", why)
		}
		t.Skipf("%s: scripts/node installs it", why)
	}
	version, err := exec.Command("node", "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(version)), "v"), ".")
	if n, _ := strconv.Atoi(major); err != nil || n < leastNode {
		missing(fmt.Sprintf("no Node.js %d or later (%s)", leastNode, strings.TrimSpace(string(version))))
	}
	dir := t.TempDir()
	source := filepath.Join("..", "..", "..", "examples", "javascript")
	for _, name := range []string{"package.json", "package-lock.json", "stage.js", "wire.js", "readability.js", "test/wire.test.js", "test/readability.test.js"} {
		copyFile(t, filepath.Join(source, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(name)))
	}
	npm := exec.Command("npm", "ci", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		missing(fmt.Sprintf("npm ci: %v: %s", err, out))
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestJavaScriptExampleByItself(t *testing.T) {
	t.Parallel()
	test := exec.Command("npm", "test")
	test.Dir = nodeStage(t)
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("npm test: %v\n%s", err, out)
	}
}

// A stage in another language reads the pages in addition to the parser. Its records are stored
// beside the parser's, one for each page, although it is killed.
func TestJavaScriptStageAddsRecords(t *testing.T) {
	t.Parallel()
	dir := nodeStage(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	site, err := samplesites.New("news", 1)
	if err != nil {
		t.Fatal(err)
	}
	s := testweb.Run(t, withLargePage(site))

	c := newCluster(t, shape{})
	bus := c.bus()
	if err := os.Symlink(node, filepath.Join(dir, "node")); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(bin, filepath.Join(dir, "node"))
	if err != nil {
		t.Fatal(err)
	}
	js := start(t, rel, filepath.Join(dir, "stage.js"), "--nats", c.url)
	c.begin(bus, "news", quick(), s.URL(0, "/"), s.URL(0, largePage))
	consumer := readabilityConsumer(t, bus, js)
	consumer(1)
	js.kill() // at an arbitrary moment
	js.start()
	pages := consumer(0)
	eventually(t, patience, "store two records for each page", func() (bool, string) {
		n, err := stored(c.out(), "news")
		return err == nil && n >= 2*pages, fmt.Sprintf("%d records of %d pages, %v", n, pages, err)
	}, c.all()...)
	c.finish(bus, "news", patience)
	js.drain()
	checkReadability(t, rawRecords(t, c.out(), "news"))
}

const largePage = "/large.html"

// withLargePage adds a page whose body goes to the object store: two megabytes that do not compress
// well.
func withLargePage(site http.Handler) http.Handler {
	noise := rand.NewChaCha8([32]byte{1})
	b := make([]byte, 1<<20)
	_, _ = noise.Read(b) // an endless source
	page := "<!doctype html><title>Large</title><p>" + hex.EncodeToString(b) + "</p><p>It ends here.</p>"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != largePage {
			site.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, page)
	})
}

// readabilityConsumer returns a function that waits until the stage has read that many pages (0:
// all pages of a crawl that has ended) and returns their number.
func readabilityConsumer(t *testing.T, bus *stages.Bus, js *process) func(least int) (pages int) {
	t.Helper()
	return func(least int) (pages int) {
		t.Helper()
		eventually(t, patience, "read the pages", func() (bool, string) {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			consumer, err := bus.JS.Consumer(ctx, messages.StreamPages, "readability")
			if err != nil {
				return false, err.Error()
			}
			info := consumer.CachedInfo()
			pages = int(info.AckFloor.Stream)
			saw := fmt.Sprintf("%d pending, %d under way, %d done", info.NumPending, info.NumAckPending, pages)
			if least > 0 {
				return pages >= least, saw
			}
			client := frontierapi.Client{Bus: bus}
			end, n, err := client.CheckEnded(ctx, "news", new(crawlspec.Spec))
			if err != nil {
				return false, err.Error()
			}
			return end == frontierapi.Complete && int64(pages) == n.Pages, saw
		}, js)
		return pages
	}
}

// stored counts the committed records of a crawl.
func stored(out, crawl string) (n int, err error) {
	commits, err := readCommits(out, "default")
	for _, c := range commits {
		for _, f := range c.Files {
			if f.Crawl == crawl {
				n += f.Records
			}
		}
	}
	return n, err
}

// rawRecords reads all committed records of a crawl without decoding them by kind.
func rawRecords(t *testing.T, out, crawl string) (all []map[string]any) {
	t.Helper()
	if err := verifyOutput(out, "default"); err != nil {
		t.Fatal(err)
	}
	commits, err := readCommits(out, "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commits {
		for _, f := range c.Files {
			if f.Crawl == crawl {
				all = append(all, lines(t, filepath.Join(out, f.Path))...)
			}
		}
	}
	return all
}

func checkReadability(t *testing.T, all []map[string]any) {
	t.Helper()
	pages, read := map[string]string{}, map[string]bool{}
	for _, r := range all {
		u := r["url"].(string)
		if r["kind"] != "readability" {
			if strings.HasPrefix(fmt.Sprint(r["content_type"]), "text/html") {
				pages[u] = fmt.Sprint(r["title"])
			}
			continue
		}
		if read[u] {
			t.Errorf("%s was read twice", u)
		}
		read[u] = true
		ease, isNumber := r["reading_ease"].(float64)
		if strings.HasSuffix(u, largePage) { // one long word
			if r["words"] != 4.0 || r["sentences"] != 2.0 {
				t.Errorf("the large page has %v words", r["words"])
			}
			continue
		}
		if words, _ := r["words"].(float64); words < 5 || !isNumber || ease < -100 || ease > 130 {
			text, _ := json.Marshal(r)
			t.Errorf("not what is on a page: %s", text)
		}
	}
	for _, r := range all {
		if u := r["url"].(string); r["kind"] == "readability" && r["title"] != pages[u] {
			t.Errorf("%s has title %q for the stage and %q for the parser", u, r["title"], pages[u])
		}
	}
	if len(read) != len(pages) || len(pages) < 40 {
		t.Errorf("%d HTML pages were read, of %d", len(read), len(pages))
	}
}
