package pages

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"

	"seine/internal/ops/overview"
	"seine/internal/serve"
	"seine/internal/testing/await"
	"seine/internal/testing/axe"
	"seine/internal/testing/browser"
	"seine/pkg/messages"
)

// press presses the button that starts with a text, in the part of a page that a selector matches.
func press(tab *browser.Tab, within, text string) {
	button := fmt.Sprintf(`[...document.querySelectorAll(%q)].find(b => b.textContent.trim().startsWith(%q))`, within+" button", text)
	tab.Holds(button)
	tab.Eval(button+".click()", nil)
}

// fill sets the value of a field.
func fill(tab *browser.Tab, selector, text string) {
	tab.Eval(fmt.Sprintf(`document.querySelector(%q).value = %q`, selector, text), nil)
}

// sure opens a confirmation; while it is open, that part of the page does not update.
func sure(tab *browser.Tab, text string) {
	summary := fmt.Sprintf(`[...document.querySelectorAll("summary")].find(s => s.textContent.startsWith(%q))`, text)
	tab.Holds(summary)
	tab.Eval(summary+".click()", nil)
}

// state returns the last known state of a crawl.
func (c *fixture) state(crawl string) (overview.State, int64) {
	if o := c.overview(); o != nil {
		for i := range o.Crawls {
			if o.Crawls[i].Name == crawl {
				return o.Crawls[i].State, o.Crawls[i].Done
			}
		}
	}
	return "", 0
}

// mustRow returns an expression that is true once a table has a row with these texts, among others,
// in this order.
func mustRow(texts ...string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("main tbody tr")].some(tr => %s.every((text, i) => [...tr.cells].some(c => c.textContent.trim().startsWith(text))))`, mustJSON(texts))
}

// A crawl is started from choices in a form, after a preview of a page. The choices can be edited
// further as YAML.
func TestCrawlIsCreatedByTheForm(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	_, seed := site(t, 30)
	c.crawl("base", "delay: 0s\n", seed+"/")
	tab := c.tab()
	tab.Allow("422")
	tab.Allow("403")
	tab.Go(c.url + "/new?url=" + url.QueryEscape(seed+"/"))
	fill(tab, "[name=fields]", "name: title\nlink: a[\n")
	fill(tab, "[name=pages]", "7")
	press(tab, ".fields", "Preview")
	tab.Shows("records[0].fields.link")
	tab.Holds(`document.querySelector("[name=crawl]").value === "127-0-0-1" && document.querySelector("[name=pages]").value === "7"`)
	fill(tab, "[name=fields]", "name: title\n")
	press(tab, ".fields", "Continue in YAML")
	tab.Holds(`document.querySelector(".cm-content")`)
	written(tab, "scope: host\nmax_pages: 7\nrender: never\nrecords:\n  - kind: item\n    fields:\n      name: \"title\"\n")
	fill(tab, "[name=spec]", "allow_private: true\ndelay: 0s\nmax_pages: 7\nrecords:\n  - kind: item\n    fields:\n      name: title\n")
	press(tab, ".fields", "Preview")
	tab.Shows("What it makes of the page")
	tab.Shows(`"name": "Page 0 of host 0`)
	axe.Check(t, tab)
	press(tab, ".fields", "Begin")
	tab.Shows("Crawl 127-0-0-1 has begun.")
	tab.Holds(`document.querySelector("#state .mark").textContent === "limit reached"`)
	tab.Shows("(max_pages: 7)")
	tab.Holds(`![...document.querySelectorAll("#controls button, #controls summary")].some(b => /Pause|Resume|Cancel/.test(b.textContent))`)
	axe.Check(t, tab)
	tab.Go(c.url + "/crawls/127-0-0-1/spec")
	written(tab, "max_pages: 7\ndelay: 0s\nrecords:\n- kind: item\n  fields:\n    name: title\nallow_private: true\n")
}

// The search finds crawls, hosts and URLs, with or without a scheme; a single result is opened at
// once.
func TestSearchFindsCrawlsHostsAndURLs(t *testing.T) {
	t.Parallel()
	c, seed := shop(t)
	host := strings.TrimPrefix(seed, "http://")
	c.add("shopping", "delay: 1h\n", seed+"/", seed+"/x")
	c.until("/crawls/shopping", "running")
	for text, want := range map[string]string{
		"shop": "/crawls/shopping", "shoppi": "Crawl shopping", host[:6]: "Host " + host, host: `<a href="/hosts/` + host + `">`, seed + hostilePath: "a seed", host + "/x": "shopping, partition",
		seed + "/": "/explain?crawl=shopping&amp;", "nothing": "No crawl or host", "": "A part of the name", "http://[": "No crawl or host",
	} {
		c.until("/search?q="+url.QueryEscape(text), want)
	}
}

// A crawl is started by a form, watched while it runs, paused, resumed, paused at one host,
// cancelled and deleted.
func TestCrawlIsBegunAndSteeredByItsPages(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	_, first := site(t, 3)
	c.crawl("base", "delay: 0s\n", first+"/")
	_, seed := site(t, 400)
	tab := c.tab()
	tab.Go(c.url + "/new?yaml=1&url=" + url.QueryEscape(seed+"/"))
	fill(tab, "[name=crawl]", "not right")
	fill(tab, "[name=spec]", "allow_private: true\ndelay: 100ms\n")
	tab.Eval(`document.querySelector("form.fields").noValidate = true`, nil)
	tab.Allow("422")
	press(tab, ".fields", "Begin")
	tab.Shows("not right")
	fill(tab, "[name=crawl]", "shop")
	press(tab, ".fields", "Begin")
	tab.Shows("Crawl shop has begun.")
	tab.Holds(`Number(document.querySelector("#tiles dd").textContent) > 3`)
	press(tab, "#controls", "Pause")
	tab.Shows("Crawl shop is paused")
	axe.Check(t, tab)
	tab.Holds(`document.querySelector("#state .mark").textContent === "paused"`)
	press(tab, "#controls", "Resume")
	tab.Shows("Crawl shop is resumed")
	at, _ := url.Parse(seed)
	tab.Go(c.url + "/hosts/" + at.Host)
	press(tab, "#host", "Pause")
	tab.Shows("Crawl shop at " + at.Hostname() + " on all ports is paused")
	tab.Shows("parked")
	tab.Go(c.url + "/crawls/shop")
	sure(tab, "Cancel")
	press(tab, "#controls", "Cancel the crawl")
	tab.Shows("Crawl shop is cancelled")
	await.Eventually(t, "see it cancelled", func() bool { s, _ := c.state("shop"); return s == overview.Cancelled })
	tab.Allow("400")
	sure(tab, "Delete")
	fill(tab, "[name=name]", "base")
	press(tab, "#controls", "Delete the crawl")
	tab.Shows("write the name of the crawl")
	tab.Go(c.url + "/crawls/shop")
	sure(tab, "Delete")
	fill(tab, "[name=name]", "shop")
	press(tab, "#controls", "Delete the crawl")
	tab.Shows("is being deleted")
	await.Eventually(t, "see it gone", func() bool { s, _ := c.state("shop"); return s == "" })
	tab.Go(c.url + "/audit")
	tab.Holds(mustRow("delete crawl", "shop", "the crawl", "done"))
	tab.Holds(mustRow("pause host", "shop", "host "+at.Host, "done"))
	tab.Holds(mustRow("create crawl", "–", "–", "refused"))
}

// A spec with an error is refused with the line of the error. A valid one is stored after its
// changes were shown, and can be reverted. It does not overwrite a concurrent change.
func TestSpecIsChangedAndTakenBack(t *testing.T) {
	t.Parallel()
	c, seed := shop(t)
	tab := c.tab()
	tab.Allow("422")
	tab.Allow("412")
	tab.Go(c.url + "/crawls/shop/spec")
	fill(tab, "#text", "max_pages: 10\nmax_pges: 11\n")
	press(tab, ".fields", "Store")
	tab.Shows("line 2, column 1")
	axe.Check(t, tab)
	tab.Holds(`document.querySelector(".cm-content")`)
	tab.Eval(`document.querySelector("#problems a").click()`, nil)
	tab.Holds(`document.activeElement.matches(".cm-content") && getSelection().toString() === "max_pges: 11"`)
	right := "allow_private: true\nschedule: \"@every 720h\"\ndelay: 0s\nmax_pages: 77\n"
	fill(tab, "#text", right)
	press(tab, ".fields", "Check")
	tab.Shows("+ max_pages: 77")
	fill(tab, "#text", right+"records:\n  - {kind: title, fields: {name: title}}\n")
	fill(tab, ".fields [name=url]", seed+hostilePath)
	press(tab, ".fields", "Try")
	tab.Shows("What it makes of the page")
	tab.Shows(`"name": "<script>document.title=`)
	axe.Check(t, tab)
	fill(tab, "#text", right)
	press(tab, ".fields", "Store")
	tab.Shows("of the spec is in effect")
	tab.Shows("what changed since")

	other := c.tab() // another, slower user
	other.Allow("412")
	other.Go(c.url + "/crawls/shop/spec")
	fill(tab, "#text", right+"max_depth: 5\n")
	press(tab, ".fields", "Store")
	tab.Shows("of the spec is in effect")
	fill(other, "#text", right+"max_depth: 6\n")
	press(other, ".fields", "Store")
	other.Shows("it is at revision")

	press(tab, "table", "Restore it")
	tab.Shows("of the spec is restored")
	tab.Holds(`!document.getElementById("text").value.includes("\"max_depth\": 5")`)
}

// The URLs that a pattern would drop are counted before it is stored, and dropped then, unless
// another user has changed the spec meanwhile.
func TestURLsAreExcludedOnceItIsKnownHowMany(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	_, seed := site(t, 1)
	var seeds []string
	for i := range 30 {
		seeds = append(seeds, fmt.Sprintf("https://paused.example/%d%s", i, []string{"", "?sort=up", "?sort=down"}[i%3]))
	}
	c.crawl("shop", "delay: 0s\nscope: any\nsources: [{hosts: [paused.example], state: paused}]\n", append(seeds, seed+"/")...)
	await.Eventually(t, "know the URLs", func() bool { o := c.overview(); return len(o.Crawls) == 1 && o.Crawls[0].Queued == 30 })
	tab := c.tab()
	tab.Allow("412")
	tab.Go(c.url + "/crawls/shop")
	tab.Eval(`[...document.querySelectorAll("main a")].find(a => a.textContent === "Exclude").click()`, nil)
	tab.Holds(`document.querySelector("main [name=pattern]")`)
	fill(tab, "main [name=pattern]", "re:(")
	press(tab, ".filter", "Count")
	tab.Shows("missing closing )")
	fill(tab, "main [name=pattern]", "*?sort=up")
	press(tab, ".filter", "Count")
	tab.Shows("It would drop 10 of 30 URLs that wait")
	axe.Check(t, tab)
	press(tab, ".card", "Exclude them")
	tab.Shows("Crawl shop excludes *?sort=up now.")
	await.Eventually(t, "drop the URLs", func() bool { return c.overview().Crawls[0].Queued == 20 })

	tab.Go(c.url + "/crawls/shop/exclude?pattern=" + url.QueryEscape("*?sort=*"))
	tab.Shows("It would drop 10 of 20 URLs that wait")
	c.add("shop", "scope: any\nexclude: [nothing]\nsources: [{hosts: [paused.example], state: paused}]\n") // by another user
	press(tab, ".card", "Exclude them")
	tab.Shows("it is at revision")
}

// Seeds get a verdict for each line before they are added. A file with 100,000 seeds is accepted.
func TestSeedsHaveAVerdictForEachLine(t *testing.T) {
	t.Parallel()
	c, seed := shop(t)
	tab := c.tab()
	tab.Go(c.url + "/seeds?crawl=shop")
	fill(tab, "[name=text]", seed+"/fed\nno url at all\n"+seed+"/fed\n# a comment\n")
	press(tab, ".fields", "Dry run")
	tab.Shows("no URL was added")
	tab.Shows("1 accepted, 1 repeated, 0 excluded by the spec, 1 invalid.")
	tab.Shows("no url at all")
	axe.Check(t, tab)
	press(tab, ".fields", "Add URLs")
	tab.Shows("1 added to shop")
	c.until("/explain?crawl=shop&url="+url.QueryEscape(seed+"/fed"), "404")

	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, "https://elsewhere%d.invalid/%d\n", i%1000, i)
	}
	name := filepath.Join(t.TempDir(), "urls.txt")
	if err := os.WriteFile(name, []byte(many.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	tab.Go(c.url + "/seeds?crawl=shop")
	var nodes []*cdp.Node
	tab.Run(chromedp.Nodes("[name=file]", &nodes, chromedp.ByQuery), chromedp.ActionFunc(func(ctx context.Context) error {
		return dom.SetFileInputFiles([]string{name}).WithNodeID(nodes[0].NodeID).Do(ctx)
	}))
	press(tab, ".fields", "Dry run")
	tab.Shows("100,000 accepted")
}

// Dead letters are selected by their cause, counted, redriven or dropped; later dead letters are
// not touched.
func TestDeadLettersAreGivenBackOrDropped(t *testing.T) {
	t.Parallel()
	c, seed := shop(t)
	c.dead(10)
	for i := range 3 {
		d := messages.Dead{
			Stage: messages.StageFrontier, Crawl: "shop", Reason: "intake was broken", Stream: messages.StreamSeeds,
			Subject: messages.SubjectSeeds("shop"), Sequence: uint64(900 + i), Time: time.Now(), Payload: fmt.Appendf(nil, `{"url":"%s/again%d"}`, seed, i),
		}
		if _, err := c.bus.JS.PublishMsg(t.Context(), d.Msg()); err != nil {
			t.Fatal(err)
		}
	}
	tab := c.tab()
	tab.Go(c.url + "/dead")
	tab.Shows("13 are chosen")
	tab.Eval(`[...document.querySelectorAll("a")].find(a => a.textContent === "intake was broken").click()`, nil)
	tab.Shows("3 are chosen")
	press(tab, "main", "Redrive these 3")
	tab.Shows("3 dead letters given to their stages again.")
	c.until("/explain?crawl=shop&url="+url.QueryEscape(seed+"/again2"), "404")
	tab.Go(c.url + "/dead?reason=line+break")
	tab.Shows("8 are chosen")
	c.dead(10) // arrives later
	sure(tab, "Drop")
	press(tab, "main", "Drop 8")
	tab.Shows("8 dead letters dropped.")
	c.until("/dead", "12 are chosen")
}

// A replay is previewed, started by a form, followed to its end, and forgotten. An invalid one is
// refused, and the form keeps its input.
func TestPagesAreReplayedByAForm(t *testing.T) {
	t.Parallel()
	c, _ := shop(t)
	tab := c.tab()
	tab.Allow("422")
	tab.Size(390, 844)
	tab.Go(c.url + "/crawls/shop")
	tab.Eval(`[...document.querySelectorAll("main a")].find(a => a.textContent === "Replay").click()`, nil)
	tab.Holds(`document.querySelector("main [name=spec]")`)
	fill(tab, "[name=since]", "yesterday")
	fill(tab, "[name=spec]", "records: [{kind: thing, fields: {name: title}}]\n")
	press(tab, ".fields", "Dry run")
	tab.Shows("must be how long ago")
	fill(tab, "[name=since]", "2d")
	press(tab, ".fields", "Dry run")
	tab.Shows("nothing was started")
	axe.Check(t, tab)
	tab.Holds(`document.querySelector("main [name=since]").value === "2d" && document.querySelector("main [name=spec]").value.includes("kind: thing")`)
	fill(tab, "[name=folder]", "again")
	press(tab, ".fields", "Begin")
	tab.Shows("The replay has begun")
	tab.Holds(`document.querySelector("#list .mark")?.textContent === "complete"`) // without a reload
	tab.Shows("since 2d")
	axe.Check(t, tab)
	tab.Go(c.url + "/crawls/shop/replay")
	sure(tab, "Remove")
	press(tab, "#list", "Remove it")
	tab.Shows("The replay is removed")
	tab.Holds(`document.querySelector("#list .empty")`)
}

// A read-only server has no forms that change anything, and refuses such requests.
func TestReadOnlyServerChangesNothing(t *testing.T) {
	t.Parallel()
	c := newFixture(t, func(o *serve.Options) { o.ReadOnly = true })
	_, seed := site(t, 3)
	c.crawl("shop", "delay: 0s\n", seed+"/")
	c.until("/crawls/shop", "Requests by outcome")
	for _, path := range []string{"/", "/crawls/shop", "/crawls/shop/spec", "/dead", "/crawls", "/processes", "/crawls/shop/replay"} {
		_, text := c.get(path)
		if strings.Count(text, `method="post"`) != 1 { // the form for the colours
			t.Errorf("%s has a form that changes something:\n%s", path, text)
		}
	}
	s := new(server)
	for _, path := range slices.Concat(slices.Collect(maps.Keys(s.forms())), slices.Collect(maps.Keys(s.actions()))) {
		resp, err := http.PostForm(c.url+strings.NewReplacer("{crawl}", "shop", "{host}", "x.example", "{verb}", "pause", "{id}", "x").Replace(path), url.Values{"name": {"shop"}, "before": {"99"}, "crawl": {"shop"}, "text": {"max_pages: 1"}})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if refused := resp.StatusCode == http.StatusForbidden; refused == slices.Contains(Harmless, "POST "+path) {
			t.Errorf("POST %s: %s", path, resp.Status)
		}
	}
}
