package render

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"seine/internal/render/pageproxy"
	"seine/pkg/crawlspec"
)

// Elements that look like links are clicked to find their targets: the page stays unchanged, and
// the site gets no requests.
func TestPressLinks(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
	}))
	t.Cleanup(web.Close)
	r := start(t, Config{Tabs: 1, Pages: 1000})
	const document = `<!doctype html><title>Press</title><p id=said>as it was</p>
		<button onclick="location='/p1'">p1</button><div id=d role=link>p2</div><button id=o>p3</button>
		<nav><span id=s style="cursor:pointer"><b>p4</b></span><i>no link</i></nav><a id=h>p5</a><div data-href=/p6 id=r>p6</div><a id=late>p7</a>
		<div id=host></div><form><button onclick="location='/form'">form</button></form><a href=/linked onclick="location='/never'">linked</a>
		<button onclick="fetch('/deleted', {method: 'POST'}); confirm('sure?'); said.textContent = 'pressed'">delete</button>
		<script>d.onclick = () => history.pushState({}, '', '/p2'); o.onclick = () => window.open('/p3'); s.onclick = () => location.assign('/p4')
		h.onclick = () => { location.hash = '#/p5' }; r.onclick = e => { location.href = e.target.dataset.href }
		late.onclick = () => setTimeout(() => { location = '/p7' }, 50)
		host.attachShadow({mode: 'open'}).innerHTML = '<button>p8</button>'; host.shadowRoot.firstChild.onclick = () => { location = '/p8' }</script>`
	for _, most := range []int{0, 2, 50} {
		how := crawlspec.DefaultRender()
		how.PressLinks = most
		page, err := r.Render(t.Context(), &Job{
			Crawl: "c", How: &how, UserAgent: "seine/test", MaxBody: 1 << 20, Transport: guarded{web.URL},
			Main: pageproxy.Document{URL: web.URL + "/page", Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(document)},
		})
		if err != nil {
			t.Fatal(err)
		}
		html := string(page.HTML)
		var found []string
		for _, m := range regexp.MustCompile(`<a href="`+web.URL+`(/[^"]*)"></a>`).FindAllStringSubmatch(html, -1) {
			found = append(found, m[1])
		}
		slices.Sort(found)
		all := []string{"/p1", "/p2", "/p3", "/p4", "/p6", "/p7", "/p8", "/page#/p5"}
		if want := all[:min(most, len(all))]; !slices.Equal(found, want) {
			t.Errorf("%d: found %v, want %v", most, found, want)
		}
		if !strings.Contains(html, "as it was") || page.Cut != "" || page.Totals.Main != 1 {
			t.Errorf("%d: %+v %s", most, page.Totals, html)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) > 0 {
		t.Errorf("the site was asked for %v", asked)
	}
}
