package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/weburl"
	"seine/internal/serve/caller"
	"seine/pkg/messages"
)

// newPage is the form for a new crawl, with choices or a spec.
type newPage struct {
	Crawl, Seeds                 string
	Scope, Pages, Render, Fields string
	YAML                         bool // the form has a spec
	Spec                         string
	TryURL                       string
	Trial                        *trialOfSpec
	Refused                      string
}

func (cp crawlPages) newCrawl(r *http.Request) (any, error) {
	p := &newPage{Seeds: r.FormValue("url"), Pages: "500", YAML: r.FormValue("yaml") != ""}
	p.Spec = p.choices()
	return p, allowed(r, caller.Write)
}

// begin handles POST /new. POST /new/try fetches one page, and POST /new/yaml converts the choices
// to a spec; neither starts a crawl.
func (cp crawlPages) begin(w http.ResponseWriter, r *http.Request) {
	value := func(name string) string { return strings.TrimSpace(r.FormValue(name)) }
	p := &newPage{
		Crawl: value("crawl"), Seeds: plainLines(r.FormValue("seeds")), Scope: value("scope"), Pages: value("pages"), Render: value("render"),
		Fields: plainLines(r.FormValue("fields")), Spec: plainLines(r.FormValue("spec")), TryURL: value("try"),
	}
	seeds := strings.Fields(p.Seeds)
	if p.YAML = p.Spec != ""; !p.YAML {
		p.Spec = p.choices()
	}
	if p.Crawl == "" {
		p.Crawl = nameFor(seeds)
	}
	var err error
	switch {
	case strings.HasSuffix(r.URL.Path, "/yaml"):
		p.YAML = true
	case strings.HasSuffix(r.URL.Path, "/try"):
		if p.TryURL == "" && len(seeds) > 0 {
			p.TryURL = seeds[0]
		}
		p.Trial, err = cp.tryPage(r, p.TryURL, p.Spec)
	default:
		err = cp.carryOutJSON(r, http.MethodPost, "/crawls", map[string]any{"name": p.Crawl, "spec": p.Spec, "seeds": seeds}, nil)
		if err == nil {
			cp.done(w, r, "/crawls/"+p.Crawl, "Crawl "+p.Crawl+" has begun.")
			return
		}
	}
	status := http.StatusOK
	if err != nil {
		p.Refused, status = err.Error(), statusOf(err)
	}
	cp.render(w, r, status, "new", "New crawl", p)
}

// choices returns the choices of the form as a spec.
func (p *newPage) choices() string {
	var spec strings.Builder
	for _, c := range []struct{ key, value string }{{"scope", p.Scope}, {"max_pages", p.Pages}, {"render", p.Render}} {
		if c.value != "" {
			fmt.Fprintf(&spec, "%s: %s\n", c.key, c.value)
		}
	}
	if strings.TrimSpace(p.Fields) == "" {
		return spec.String()
	}
	spec.WriteString("records:\n  - kind: item\n    fields:\n")
	for line := range strings.Lines(p.Fields) {
		name, selector, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "" {
			quoted, _ := json.Marshal(strings.TrimSpace(selector)) // cannot fail
			fmt.Fprintf(&spec, "      %s: %s\n", strings.TrimSpace(name), quoted)
		}
	}
	return spec.String()
}

var notInNames = lazyregexp.New(`[^a-z0-9]+`)

// nameFor returns the default name of a crawl, from its first host.
func nameFor(seeds []string) string {
	if len(seeds) > 0 {
		if u, err := weburl.Canonicalize(seeds[0]); err == nil {
			return strings.Trim(notInNames().ReplaceAllString(strings.TrimPrefix(weburl.Hostname(u), "www."), "-"), "-")
		}
	}
	return messages.DefaultCrawl
}

// plainLines replaces the line ends of HTTP forms.
func plainLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
