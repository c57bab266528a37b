package samplesites

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
)

// Record is a record as it is in the output, decoded from JSON, without what every record of a crawl has and no rule
// decides: fetched_at, crawl and visit.
type Record map[string]any

// Truth is what a crawl by the spec of the shape must give.
type Truth struct {
	// Records are those of the rules, in no order, with "kind" and "url", and "key" where the rule has one.
	Records []Record
	// Refused are the URLs of pages whose record lacks what it must have: no output, but a dead letter.
	Refused []string
}

// SampleSite is one site.
type SampleSite struct {
	Name  string
	Seeds []string // paths to start from

	pages map[string]page // by path
	guard func(http.ResponseWriter, *http.Request) (answered bool)
	truth func(base string) Truth
	main  map[string][]string
}

// page is what a path answers.
type page struct {
	media string
	// write makes the body; nil says that there is no such page.
	write func(request) []byte
}

// request is what a page may depend on.
type request struct {
	base  string // scheme and authority, without a slash at the end
	path  string
	query url.Values
}

// makers are the shapes by name.
var makers = map[string]func(seed uint64) *SampleSite{
	"sports": newSports, "opportunities": newOpportunities, "news": newNews, "shop": newShop, "docs": newDocs,
}

// Names are the shapes there are.
func Names() []string { return []string{"sports", "opportunities", "news", "shop", "docs"} }

// New makes the site of a shape. The error is that of an unknown name.
func New(name string, seed uint64) (*SampleSite, error) {
	newShape, ok := makers[name]
	if !ok {
		return nil, fmt.Errorf("shape %q: must be one of %s", name, strings.Join(Names(), ", "))
	}
	s := newShape(seed)
	s.Name = name
	return s, nil
}

// Truth returns what a crawl must give. The base is scheme and authority of the site's URLs, as in
// "http://127.0.0.1:8080".
func (s *SampleSite) Truth(base string) Truth { return s.truth(strings.TrimSuffix(base, "/")) }

// Main is the main content of pages by path, paragraph by paragraph and without markup; only the news have it.
func (s *SampleSite) Main() map[string][]string { return s.main }

// ServeHTTP implements http.Handler.
func (s *SampleSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.guard != nil && s.guard(w, r) {
		return
	}
	p, ok := s.pages[r.URL.Path]
	if !ok {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	body := p.write(request{base: "http://" + authority(r.Host), path: r.URL.Path, query: r.URL.Query()})
	if body == nil {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", p.media)
	_, _ = w.Write(body)
}

// authority is the host asked for, if it is fit for a page.
func authority(host string) string {
	if strings.ContainsFunc(host, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(".-:[]", c))
	}) {
		return "localhost"
	}
	return host
}

// Content types.
const (
	typeHTML = "text/html; charset=utf-8"
	typeXML  = "application/xml; charset=utf-8"
	typeRSS  = "application/rss+xml; charset=utf-8"
	typeJSON = "application/json; charset=utf-8"
	typeText = "text/plain; charset=utf-8"
	typeCSS  = "text/css; charset=utf-8"
)

//go:embed templates
var templateFiles embed.FS

// pageFuncs are for all templates.
var pageFuncs = template.FuncMap{
	"inc":  func(n int) int { return n + 1 },
	"odd":  func(n int) bool { return n%2 == 1 },
	"stem": func(path string) int { return len(strings.TrimSuffix(path, ".html")) },
}

// templates reads the templates of a shape.
func templates(name string) *template.Template {
	return template.Must(template.New(name).Funcs(pageFuncs).ParseFS(templateFiles, "templates/"+name+".html"))
}

// view is what a template is given.
type view struct {
	Base, Path string
	Page       any
}

// render is the page of a template.
func render(t *template.Template, name string, r request, data any) []byte {
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, view{Base: r.base, Path: r.path, Page: data}); err != nil {
		panic(err) // the templates and their data are ours
	}
	return []byte(b.String())
}

// html adds a page of a template, the same for every query.
func (s *SampleSite) html(path string, t *template.Template, name string, data any) {
	s.pages[path] = page{typeHTML, func(r request) []byte { return render(t, name, r, data) }}
}

// text adds a file that names its own host as {base}.
func (s *SampleSite) text(path, media, body string) {
	s.pages[path] = page{media, func(r request) []byte { return []byte(strings.ReplaceAll(body, "{base}", r.base)) }}
}
