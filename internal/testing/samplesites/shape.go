package samplesites

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
)

// Record is an output record, decoded from JSON, without the fields that every record has
// independently of the rules: fetched_at, crawl and visit.
type Record map[string]any

// Truth is the expected result of a crawl with the shape's spec.
type Truth struct {
	// Records are the rules' records, in no order, with "kind" and "url", and "key" if the rule has
	// one.
	Records []Record
	// Refused are the URLs of pages whose record lacks a required field: they give a dead letter
	// instead of output.
	Refused []string
}

// SampleSite is a generated site.
type SampleSite struct {
	Name  string
	Seeds []string // paths to start from

	pages map[string]page // by path
	guard func(http.ResponseWriter, *http.Request) (answered bool)
	truth func(base string) Truth
	main  map[string][]string
}

// page is the response of a path.
type page struct {
	media string
	// write returns the body, or nil if the page does not exist.
	write func(request) []byte
}

// request has the parts of a request that a page may depend on.
type request struct {
	base  string // scheme and authority, without a trailing slash
	path  string
	query url.Values
}

// makers has the constructors by shape.
var makers = map[string]func(seed uint64) *SampleSite{
	"sports": newSports, "opportunities": newOpportunities, "news": newNews, "shop": newShop, "docs": newDocs,
}

// Names returns the names of all shapes.
func Names() []string { return []string{"sports", "opportunities", "news", "shop", "docs"} }

// New generates the site of a shape. It returns an error for an unknown name.
func New(name string, seed uint64) (*SampleSite, error) {
	newShape, ok := makers[name]
	if !ok {
		return nil, fmt.Errorf("shape %q: must be one of %s", name, strings.Join(Names(), ", "))
	}
	s := newShape(seed)
	s.Name = name
	return s, nil
}

// Truth returns the expected result of a crawl. The base is the scheme and authority of the site's
// URLs, as in "http://127.0.0.1:8080".
func (s *SampleSite) Truth(base string) Truth { return s.truth(strings.TrimSuffix(base, "/")) }

// Main returns the main content of pages by path, as paragraphs without markup; only the news site
// has it.
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

// authority returns the requested host if it is safe to embed in a page.
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

// pageFuncs are functions for all templates.
var pageFuncs = template.FuncMap{
	"inc":  func(n int) int { return n + 1 },
	"odd":  func(n int) bool { return n%2 == 1 },
	"stem": func(path string) int { return len(strings.TrimSuffix(path, ".html")) },
}

// templates parses the templates of a shape.
func templates(name string) *template.Template {
	return template.Must(template.New(name).Funcs(pageFuncs).ParseFS(templateFiles, "templates/"+name+".html"))
}

// view is the data of a template.
type view struct {
	Base, Path string
	Page       any
}

// render executes a template.
func render(t *template.Template, name string, r request, data any) []byte {
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, view{Base: r.base, Path: r.path, Page: data}); err != nil {
		panic(err) // templates and data are built in
	}
	return []byte(b.String())
}

// html adds a page from a template that ignores the query.
func (s *SampleSite) html(path string, t *template.Template, name string, data any) {
	s.pages[path] = page{typeHTML, func(r request) []byte { return render(t, name, r, data) }}
}

// text adds a text file; {base} in it is replaced with the base URL.
func (s *SampleSite) text(path, media, body string) {
	s.pages[path] = page{media, func(r request) []byte { return []byte(strings.ReplaceAll(body, "{base}", r.base)) }}
}
