package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/browser"
	"seine/internal/testing/scriptweb"
	"seine/pkg/messages"
)

// A renderer works with minimal permissions. Until it starts, commands report the pages that wait
// for it. Rendered pages are fetched once, and no operation is refused.
func TestRendererCanDoItsWorkWithItsRole(t *testing.T) {
	browser.Path(t)
	t.Parallel()
	const pages = 6
	w := scriptweb.Start(t)
	c := newLocked(t, 4, nil)
	c.front = c.frontier("f1")
	c.fetch = []*process{c.stage("fetcher", "fetcher")}
	c.parse = []*process{c.stage("parser", "parser")}
	c.write = []*process{c.writer("default", "records", "jsonl.zst")}
	bus := c.dial("operator")
	if err := bus.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	spec := file(t, "spec.yaml", "{delay: 0s, allow_private: true, robots: ignore, render: always}")
	wantOutput(t, c.seine("operator", "spec", "apply", spec, "--crawl", "site"), "as revision 1")
	wantOutput(t, c.seine("operator", "seed", "--crawl", "site", w.URL(scriptweb.LightPath(pages))), "1 URL was added")
	eventually(t, time.Minute, "tell that a renderer is missing", func() (bool, string) {
		doctor, status := c.seine("operator", "doctor").stdout.String(), c.seine("viewer", "status").stdout.String()
		return strings.Contains(doctor, "fail  rendering: pages of site wait") && strings.Contains(status, "no running renderer"), doctor + status
	}, c.all()...)
	if n := visits(w); n > 0 {
		t.Errorf("%d pages were fetched without a renderer", n)
	}

	c.fetch = append(c.fetch, c.stage("renderer", "renderer", "--browser-tabs", "2"))
	eventually(t, time.Minute, "tell that it runs", func() (bool, string) {
		doctor := c.seine("operator", "doctor").stdout.String()
		return strings.Contains(doctor, "1 renderer") && !strings.Contains(doctor, "fail  rendering"), doctor
	}, c.all()...)
	c.finish(bus, "site", time.Minute)
	all := byPath(t, records(t, c.out(), "site"), w.Origin())
	for n := range pages {
		if text := all[fmt.Sprintf("/light/%d", n+1)].Text; !strings.Contains(text, scriptweb.LightText(n+1)) {
			t.Errorf("page %d has the text %q", n+1, text)
		}
	}
	if n := visits(w); n != pages {
		t.Errorf("%d requests for %d pages", n, pages)
	}
	for _, p := range append(c.all(), c.nats) {
		if said := p.log.String(); strings.Contains(said, "level=ERROR") || strings.Contains(said, "does not let") {
			t.Errorf("%s was refused something: %s", p.name, said)
		}
	}
}

// A complete crawl in one process can also render pages with a locked-down server.
func TestCrawlRendersOverALockedServer(t *testing.T) {
	browser.Path(t)
	t.Parallel()
	const pages = 3
	w := scriptweb.Start(t)
	c := newLocked(t, messages.DefaultPartitions, nil)
	c.dial("crawl").Close() // waits for the server
	p := newWorkspace(t)
	p.crawl(append(c.as("crawl"), w.URL(scriptweb.LightPath(pages)), "--render", "always", "--allow-private", "--delay", "0s", "--robots", "ignore")...).expect(0)
	all := byPath(t, records(t, p.out, "default"), w.Origin())
	for n := range pages {
		if text := all[fmt.Sprintf("/light/%d", n+1)].Text; !strings.Contains(text, scriptweb.LightText(n+1)) {
			t.Errorf("page %d has the text %q", n+1, text)
		}
	}
}
