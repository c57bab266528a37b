package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"seine/internal/testing/freeport"
	"seine/internal/testing/samplesites"
	"seine/internal/testing/testweb"
	"seine/pkg/crawlspec"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// example is a spec of examples/ and a sample site for it.
type example struct {
	t     *testing.T
	name  string
	shape *samplesites.SampleSite
	base  string
	log   *testweb.Log
}

func newExample(t *testing.T, name string) example {
	t.Helper()
	shape, err := samplesites.New(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	log := testweb.NewLog(0)
	s := testweb.Run(t, log.Handler(shape, nil))
	return example{t, name, shape, "http://" + s.Addr(), log}
}

func (e example) file(name string) string {
	return filepath.Join("..", "..", "..", "examples", e.name, name)
}

// spec returns the path of the spec after replacements: pairs of a pattern, which must match, and
// its replacement.
func (e example) spec(replacements ...string) string {
	e.t.Helper()
	b, err := os.ReadFile(e.file("spec.yaml"))
	if err != nil {
		e.t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(replacements); i += 2 {
		re := regexp.MustCompile(replacements[i])
		if !re.MatchString(text) {
			e.t.Fatalf("%s is not in the spec", re)
		}
		text = re.ReplaceAllLiteralString(text, replacements[i+1])
	}
	return file(e.t, "spec.yaml", text)
}

func (e example) seeds() (urls []string) {
	for _, path := range e.shape.Seeds {
		urls = append(urls, e.base+path)
	}
	return urls
}

// crawl crawls the site with a spec to the end and returns the records.
func (e example) crawl(spec string, args ...string) []map[string]any {
	e.t.Helper()
	p := newWorkspace(e.t)
	p.crawl(append(append([]string{"--spec", spec}, args...), e.seeds()...)...).expect(0)
	return rawRecords(e.t, p.out, "default")
}

// requests counts the requests for each path and query.
func (e example) requests() map[string]int {
	n := make(map[string]int)
	for _, r := range e.log.Requests() {
		n[r.Path]++
	}
	return n
}

// recordName returns a key that identifies a record in its crawl.
func recordName(r map[string]any) string {
	return fmt.Sprint(r["kind"], " ", r["url"], " ", r["key"], " ", r["anchor"], " ", r["language"])
}

// compare checks that the rules' records equal the truth, each once, and returns the records of
// pages. It also compares the page records in the truth.
func (e example) compare(records []map[string]any) (pages []map[string]any) {
	e.t.Helper()
	wanted := make(map[string]map[string]any)
	for _, r := range e.shape.Truth(e.base).Records {
		wanted[recordName(r)] = r
	}
	seen := make(map[string]bool)
	for _, r := range records {
		name := recordName(r)
		want, ok := wanted[name]
		if r["kind"] == nil {
			pages = append(pages, r)
			if !ok {
				continue
			}
		}
		switch {
		case !ok:
			e.t.Errorf("%s is not to be there", name)
		case seen[name]:
			e.t.Errorf("%s is there twice", name)
		default:
			e.same(name, r, want)
		}
		seen[name] = true
	}
	for name := range wanted {
		if !seen[name] {
			e.t.Errorf("%s is missing", name)
		}
	}
	return pages
}

// same compares all fields except those that differ in every crawl.
func (e example) same(name string, got, want map[string]any) {
	e.t.Helper()
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			e.t.Fatal(err)
		}
		return string(b)
	}
	for field := range want {
		if g, w := text(got[field]), text(want[field]); g != w {
			e.t.Errorf("%s: %s\n got %s\nwant %s", name, field, g, w)
		}
	}
	for field := range got {
		if _, ok := want[field]; !ok && !slices.Contains([]string{"fetched_at", "crawl", "visit", "run"}, field) {
			e.t.Errorf("%s has %s", name, field)
		}
	}
}

// A season gives one box score and one list of plays for each game: from page to API to API, with
// its key, at its rate, and despite its 503s.
func TestExampleSports(t *testing.T) {
	t.Parallel()
	e := newExample(t, "sports")
	secrets := t.TempDir()
	if err := os.WriteFile(filepath.Join(secrets, "STATS_KEY"), []byte(samplesites.SportsKey), 0o600); err != nil {
		t.Fatal(err)
	}
	e.compare(e.crawl(e.spec(`"http://127\.0\.0\.1:8080"`, `"`+e.base+`"`), "--secrets", secrets))

	all := e.log.Requests()
	const interval = 20 * time.Millisecond // 50/s
	if took := all[len(all)-1].At.Sub(all[0].At); took < time.Duration(len(all)-1)*interval*9/10 {
		t.Errorf("%d requests within %s: more than 50 a second", len(all), took)
	}
	busy := 0
	for i, r := range all {
		underWay := 0
		for _, other := range all[:i+1] {
			if other.End.After(r.At) {
				underWay++
			}
		}
		if underWay > 4 {
			t.Errorf("%d requests at a time", underWay)
		}
		if r.Status != http.StatusServiceUnavailable {
			continue
		}
		busy++
		again := slices.IndexFunc(all[i+1:], func(o testweb.Request) bool { return o.Path == r.Path })
		if again < 0 || all[i+1+again].At.Sub(r.At) < time.Second {
			t.Errorf("%s was not left alone for the second that it asked for", r.Path)
		}
	}
	if busy == 0 {
		t.Error("nothing was ever busy")
	}
}

func TestExampleOpportunities(t *testing.T) {
	t.Parallel()
	e := newExample(t, "opportunities")
	once := e.spec(`(?m)^schedule: .*$`, "", `(?m)^recrawl:\n(?:  - .*\n)+`, "")
	e.compare(e.crawl(once))
	for path, n := range e.requests() {
		if n != 1 || strings.Contains(path, "/files/") {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	if n := e.requests()["/opportunities/new-mexico?page=6"] + e.requests()["/opportunities/oregon?page=2"]; n != 0 {
		t.Errorf("%d requests beyond the end of a list", n)
	}
}

// With its schedule, the crawl starts again from the seeds and visits the linked pages again.
func TestExampleOpportunitiesOnItsSchedule(t *testing.T) {
	t.Parallel()
	e := newExample(t, "opportunities")
	p := newWorkspace(t)
	c := p.crawl(append([]string{"--spec", e.spec(`"0 6 \* \* 1-5"`, `"@every 5s"`)}, e.seeds()...)...)
	truth := e.shape.Truth(e.base).Records
	eventually(t, patience, "visit every page twice", func() (bool, string) {
		n, twice := e.requests(), 0
		for _, r := range truth {
			if n[strings.TrimPrefix(r["url"].(string), e.base)] > 1 {
				twice++
			}
		}
		return twice == len(truth), fmt.Sprintf("%d of %d; %s", twice, len(truth), c.said())
	})
	c.signal(syscall.SIGINT)
	c.expect(4)
	wanted := make(map[string]map[string]any)
	for _, r := range truth {
		wanted[recordName(r)] = r
	}
	got := make(map[string]int)
	for _, r := range rawRecords(t, p.out, "default") {
		name := recordName(r)
		if got[name]++; wanted[name] == nil {
			t.Errorf("%s is not to be there", name)
			continue
		}
		e.same(name, r, wanted[name])
	}
	if len(got) != len(wanted) {
		t.Errorf("%d records, want %d", len(got), len(wanted))
	}
}

func TestExampleNews(t *testing.T) {
	t.Parallel()
	e := newExample(t, "news")
	pages := e.compare(e.crawl(e.file("spec.yaml")))
	articles := e.shape.Main()
	byPath := make(map[string]map[string]any)
	for _, r := range pages {
		byPath[strings.TrimPrefix(r["url"].(string), e.base)] = r
	}
	truth := make(map[string]samplesites.Record)
	for _, r := range e.shape.Truth(e.base).Records {
		truth[strings.TrimPrefix(r["url"].(string), e.base)] = r
	}
	for path, paragraphs := range articles {
		r := byPath[path]
		if r == nil {
			t.Errorf("%s has no record of the page", path)
			continue
		}
		for _, field := range []string{"author", "published", "modified"} {
			if r[field] != truth[path][field] {
				t.Errorf("%s: %s is %v, want %v", path, field, r[field], truth[path][field])
			}
		}
		wantMain(t, path, fmt.Sprint(r["main"]), paragraphs)
	}
	for _, path := range []string{"/", "/politics/", "/culture/page/2/"} {
		if byPath[path] == nil {
			t.Errorf("%s has no record of the page", path)
		}
	}
}

// wantMain checks that a text has every paragraph of an article and nothing from around it.
func wantMain(t *testing.T, path, text string, paragraphs []string) {
	t.Helper()
	folded := strings.Join(strings.Fields(text), " ")
	for _, p := range paragraphs {
		if !strings.Contains(folded, strings.Join(strings.Fields(p), " ")) {
			t.Errorf("%s: the main content lacks %q", path, p)
		}
	}
	for _, noise := range samplesites.NewsNoise {
		if strings.Contains(folded, noise) {
			t.Errorf("%s: the main content has %q", path, noise)
		}
	}
}

// Incomplete products of the shop become dead letters, each with its reason.
func TestExampleShop(t *testing.T) {
	t.Parallel()
	e := newExample(t, "shop")
	port := freeport.Get(t)
	server := startNATS(t, t.TempDir(), port)
	eventually(t, patience, "start nats-server", func() (bool, string) {
		return strings.Contains(server.log.String(), "Server is ready"), server.log.String()
	}, server)
	url := fmt.Sprintf("nats://127.0.0.1:%d", port)
	e.compare(e.crawl(e.file("spec.yaml"), "--nats", url))
	for path := range e.requests() {
		if strings.Contains(path, "sort=") || strings.HasSuffix(path, ".jpg") || strings.HasPrefix(path, "/cart") {
			t.Errorf("%s was asked for", path)
		}
	}
	letters := deadLetters(t, url)
	for _, refused := range e.shape.Truth(e.base).Refused {
		if !slices.ContainsFunc(letters, func(l string) bool { return strings.Contains(l, refused) }) {
			t.Errorf("no dead letter is about %s", refused)
		}
	}
	if len(letters) != len(e.shape.Truth(e.base).Refused) {
		t.Errorf("%d dead letters:\n%s", len(letters), strings.Join(letters, "\n"))
	}
}

// deadLetters returns the messages in DEAD, each with headers and payload as one text.
func deadLetters(t *testing.T, url string) (all []string) {
	t.Helper()
	bus, err := stages.Dial(url, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	stream, err := bus.JS.Stream(ctx, messages.StreamDead)
	if err != nil {
		t.Fatal(err)
	}
	letters, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for range stream.CachedInfo().State.Msgs {
		m, err := letters.Next()
		if err != nil {
			t.Fatal(err)
		}
		if m.Headers().Get(messages.HeaderDeadReason) == "" {
			t.Errorf("a dead letter without a reason: %v", m.Headers())
		}
		all = append(all, fmt.Sprint(m.Headers(), string(m.Data())))
	}
	return all
}

func TestExampleDocs(t *testing.T) {
	t.Parallel()
	e := newExample(t, "docs")
	if pages := e.compare(e.crawl(e.file("spec.yaml"))); len(pages) != 19 {
		t.Errorf("%d records of pages, want 19", len(pages))
	}
	for path := range e.requests() {
		if strings.HasPrefix(path, "/_sources") || path == "/search.html" {
			t.Errorf("%s was asked for", path)
		}
	}
}

// A custom parser with an extractor replaces Seine's.
func TestExampleExtractor(t *testing.T) {
	t.Parallel()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "extractor"), "seine/examples/extractor")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	folder := filepath.Join("..", "..", "..", "examples", "extractor")
	site := http.NewServeMux()
	site.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>Club</title><a href="club.ics">Calendar</a> <a href="broken.ics">Last year</a>`)
	})
	site.HandleFunc("/club.ics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
		http.ServeFile(w, r, filepath.Join(folder, "calendar", "testdata", "club.ics"))
	})
	site.HandleFunc("/broken.ics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/calendar")
		fmt.Fprint(w, "no calendar")
	})
	s := testweb.Run(t, site)

	c := newCluster(t, shape{})
	c.parse[0].kill()
	c.parse[0] = start(t, "extractor", "--nats", c.url, "--listen", "127.0.0.1:0")
	bus := c.bus()
	spec := quick()
	spec.Accept = crawlspec.Strings{"text/calendar"} // as in the example's spec.yaml
	c.begin(bus, "club", spec, s.URL(0, "/"))
	eventually(t, patience, "store two pages and five events", func() (bool, string) {
		n, err := stored(c.out(), "club")
		return err == nil && n >= 7, fmt.Sprint(n, err)
	}, c.all()...)
	c.finish(bus, "club", patience)
	var keys []string
	titles := make(map[string]any)
	for _, r := range rawRecords(t, c.out(), "club") {
		if r["kind"] == "event" {
			keys = append(keys, fmt.Sprint(r["key"]))
			continue
		}
		titles[strings.TrimPrefix(r["url"].(string), s.URL(0, ""))] = r["title"]
	}
	slices.Sort(keys)
	want := []string{
		"holidays@club.example", "spring-regatta@club.example", "training@club.example",
		"training@club.example/2026-01-13T18:00:00Z", "unknown-zone@club.example",
	}
	if !slices.Equal(keys, want) {
		t.Errorf("events %q, want %q", keys, want)
	}
	if titles[""] != "Club" || titles["club.ics"] != "Rowing Club, events" || len(titles) != 2 {
		t.Errorf("titles of the pages: %v", titles)
	}
	if letters := deadLetters(t, c.url); len(letters) != 1 || !strings.Contains(letters[0], "not an iCalendar file") {
		t.Errorf("dead letters: %q", letters)
	}
}
