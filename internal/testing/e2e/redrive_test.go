package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/testweb"
)

// A page whose record failed is parsed again, whether or not its parser got it in memory. After the
// end of the crawl, commands find that all of it was written.
func TestCrawl_DeadLetterRedriven_PageParsedAgain(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"--chain", "--no-chain"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			testRedrivenPage(t, how)
		})
	}
}

func testRedrivenPage(t *testing.T, how string) {
	site, web := testSite(t, testweb.Config{PagesPerHost: 1})
	base := strings.TrimSuffix(site.seed, "/")
	web.Handle(0, "/bad", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(rw, "<title>Bad</title><p>No price.</p>")
	})
	g := newGate(t, web, "/gate")
	p := newWorkspace(t)
	spec := file(t, "spec.yaml", "records: [{kind: product, match: '*/bad', fields: {price: {css: .price, required: true}}}]\npage: {emit: always}\n")
	crawl := p.crawl(how, "--spec", spec, base+"/bad", base+"/gate")
	g.wait(t)
	inside := func(args ...string) *command { return runSeine(t, append(args, "--data", p.data)...) }
	letters := func(n int, with string) {
		t.Helper()
		eventually(t, patience, "give up on the record", func() (bool, string) {
			out := inside("dead", "list", "--json", "--stage", "parser").stdout.String()
			return strings.Count(out, "\n") == n && strings.Contains(out, with), out
		})
	}
	letters(1, `"redriven":0`)
	if how == "--chain" {
		wantOutput(t, inside("dead", "redrive", "--all"), "1 message is back in the stream")
		letters(1, `"redriven":1`)
	}
	// The stream got this message less than two minutes ago.
	again := inside("dead", "redrive", "--all")
	if again.code() != 1 || !strings.Contains(again.stdout.String(), "0 messages are back") || !strings.Contains(again.stderr.String(), "1 dead letter not sent") {
		t.Errorf("redrive of what was just sent ends with %d:\n%s", again.code(), again.said())
	}
	letters(1, "field price: required")
	g.open()
	crawl.within(time.Minute, 0)
	for _, more := range [][]string{nil, {"--out", p.out}} {
		wantOutput(t, inside(append([]string{"explain", base + "/gate"}, more...)...), "has committed 1 of 1")
	}
	deleted := inside("delete", "default", "--yes")
	wantOutput(t, deleted, "is deleted")
	if strings.Contains(deleted.stdout.String(), "may not be written yet") {
		t.Errorf("deletion of a crawl all of which was written:\n%s", deleted.said())
	}
}
