package pages

import (
	"net/http"
	"strings"

	"seine/internal/serve/caller"
)

// newPage is the form that begins a crawl.
type newPage struct {
	Crawl, Seeds, Spec string
	Refused            string
}

func (cp crawlPages) newCrawl(r *http.Request) (any, error) {
	return newPage{Crawl: "default", Seeds: r.FormValue("url"), Spec: "max_pages: 500\n"}, allowed(r, caller.Write)
}

// begin is POST /new.
func (cp crawlPages) begin(w http.ResponseWriter, r *http.Request) {
	p := newPage{Crawl: strings.TrimSpace(r.FormValue("crawl")), Seeds: plainLines(r.FormValue("seeds")), Spec: plainLines(r.FormValue("spec"))}
	err := cp.carryOutJSON(r, http.MethodPost, "/crawls", map[string]any{"name": p.Crawl, "spec": p.Spec, "seeds": strings.Fields(p.Seeds)}, nil)
	if err != nil {
		p.Refused = err.Error()
		cp.render(w, r, statusOf(err), "new", "New crawl", p)
		return
	}
	cp.done(w, r, "/crawls/"+p.Crawl, "Crawl "+p.Crawl+" has begun.")
}

// plainLines are those of a text that a browser sent, which ends lines as HTTP does.
func plainLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
