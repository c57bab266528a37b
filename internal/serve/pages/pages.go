// Package pages renders the web pages of a cluster. The server renders complete HTML, which is
// readable without scripts.
//
// Pages use the figures of figures.Sampler, and query the frontiers and the streams for data that
// only one page shows. Concurrent equal queries are sent once, and a reply is reused for some
// seconds: many open pages cost the cluster as much as one. Every list is bounded, and every filter
// of a list is in the URL.
//
// Text from sites, including URLs, is never markup, and its control characters are made visible. A
// URL is a link only if it begins with http:// or https://.
package pages

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	xrate "golang.org/x/time/rate"

	"seine/internal/serve/answers"
	"seine/internal/serve/caller"
	"seine/internal/serve/cluster"
	"seine/internal/serve/figures"
	"seine/internal/serve/snapshots"
)

// Deps are the dependencies of the pages.
type Deps struct {
	Cluster *cluster.Cluster
	Feed    *snapshots.Feed
	Figures *figures.Sampler
	// API carries out the actions of forms, and checks permissions.
	API http.Handler
	// Prefix is the path of the pages behind a proxy, such as "/seine"; "" for the root. Requests
	// arrive without it.
	Prefix string
	// ReadOnly hides all forms that change something.
	ReadOnly bool
	Log      *slog.Logger
}

// askTime bounds the time to render a page.
const askTime = 15 * time.Second

type server struct {
	Deps
	answers   answers.Cache
	logged    xrate.Sometimes // limits logged failures, so that a reader in a loop does not fill the log
	mux       *http.ServeMux
	templates map[string]*template.Template // by name of the page
}

// New returns a handler of all pages, their static files, and their stream of events.
func New(d Deps) http.Handler {
	s := &server{Deps: d, answers: answers.Cache{Within: askTime}, logged: xrate.Sometimes{Interval: time.Second}, mux: http.NewServeMux()}
	s.templates = parse(s)
	s.mux.Handle("GET /static/", http.HandlerFunc(serveStatic))
	s.mux.HandleFunc("GET /figures", s.chart)
	s.mux.HandleFunc("POST /settings/theme", s.setTheme)
	for path, p := range s.readers() {
		s.mux.HandleFunc("GET "+path, s.page(p))
	}
	for path, do := range s.forms() {
		s.mux.HandleFunc("POST "+path, do)
	}
	for path, do := range s.actions() {
		s.mux.HandleFunc("POST "+path, s.act(do))
	}
	s.mux.HandleFunc("/", s.page(page{name: "error", title: "Not found", read: func(*http.Request) (any, error) { return nil, errNoPage }}))
	return s.mux
}

// Harmless are the patterns of requests other than GET that change no crawl.
var Harmless = []string{"POST /settings/theme", "POST /new/try", "POST /new/yaml", "POST /seeds/check", "POST /crawls/{crawl}/spec/check", "POST /crawls/{crawl}/spec/try", "POST /crawls/{crawl}/replay/check"}

// forms return the handlers of forms. If a form is rejected, they show its page again with the
// reason.
func (s *server) forms() map[string]http.HandlerFunc {
	crawls, specs, urls, outputs := crawlPages{s}, specPages{s}, urlPages{s}, recordPages{s}
	return map[string]http.HandlerFunc{
		"/new":                         crawls.begin,
		"/new/try":                     crawls.begin,
		"/new/yaml":                    crawls.begin,
		"/crawls/{crawl}/spec":         specs.storeSpec,
		"/crawls/{crawl}/spec/check":   specs.checkSpec,
		"/crawls/{crawl}/spec/try":     specs.try,
		"/crawls/{crawl}/exclude":      specs.storeExclusion,
		"/crawls/{crawl}/replay":       outputs.beginReplay,
		"/crawls/{crawl}/replay/check": outputs.beginReplay,
		"/seeds":                       urls.feed,
		"/seeds/check":                 urls.feed,
	}
}

// action is the effect of a button. It returns the page to open next, and the message to show
// there.
type action func(*http.Request) (to, said string, err error)

func (s *server) actions() map[string]action {
	crawls, letters := crawlPages{s}, letterPages{s}
	return map[string]action{
		"/crawls/{crawl}/{verb}":              crawls.steer,
		"/crawls/{crawl}/hosts/{host}/{verb}": crawls.steer,
		"/crawls/{crawl}/delete":              crawls.remove,
		"/crawls/{crawl}/spec/rollback":       specPages{s}.rollback,
		"/crawls/{crawl}/replay/{id}/{verb}":  recordPages{s}.steerReplay,
		"/processes/{id}/drain":               s.drain,
		"/dead/redrive":                       letters.redrive,
		"/dead/drop":                          letters.drop,
	}
}

// act redirects to the page that an action returns.
func (s *server) act(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		to, said, err := do(r)
		if err != nil {
			s.failed(w, r, err)
			return
		}
		s.done(w, r, to, said)
	}
}

// readers returns the pages that only show data.
func (s *server) readers() map[string]page {
	crawls, specs, urls, letters, outputs := crawlPages{s}, specPages{s}, urlPages{s}, letterPages{s}, recordPages{s}
	return map[string]page{
		"/{$}":                    {name: "overview", title: "Overview", read: s.overview},
		"/crawls":                 {name: "crawls", title: "Crawls", read: crawls.crawls},
		"/crawls/{crawl}":         {name: "crawl", title: "Crawl", read: crawls.crawl},
		"/crawls/{crawl}/spec":    {name: "spec", title: "Spec", read: specs.spec},
		"/crawls/{crawl}/exclude": {name: "exclude", title: "Exclude URLs", scope: caller.Write, read: specs.exclude},
		"/crawls/{crawl}/replay":  {name: "replay", title: "Replay", read: outputs.replay},
		"/hosts":                  {name: "hosts", title: "Hosts", read: urls.hosts},
		"/hosts/{host}":           {name: "host", title: "Host", read: urls.host},
		"/errors":                 {name: "errors", title: "Errors", read: urls.errors},
		"/search":                 {name: "search", title: "Search", read: urls.search},
		"/explain":                {name: "explain", title: "Explain a URL", read: urls.explain},
		"/dead":                   {name: "dead", title: "Dead letters", read: letters.dead},
		"/dead/{seq}":             {name: "letter", title: "Dead letter", read: letters.letter},
		"/records":                {name: "records", title: "Records", scope: caller.Records, read: outputs.records},
		"/files":                  {name: "files", title: "Files", scope: caller.Records, read: outputs.files},
		"/files/view":             {name: "file", title: "File", scope: caller.Records, read: outputs.file},
		"/processes":              {name: "processes", title: "Processes", read: s.processes},
		"/new":                    {name: "new", title: "New crawl", scope: caller.Write, read: crawls.newCrawl},
		"/seeds":                  {name: "seeds", title: "Seeds", scope: caller.Write, read: urls.seeds},
		"/audit":                  {name: "audit", title: "Audit", scope: caller.Audit, read: s.audit},
		"/settings":               {name: "settings", title: "Settings", read: s.settings},
	}
}

// page is a kind of page: its template, its title, and its data.
type page struct {
	name, title string
	scope       caller.Scope // required scope; "" is caller.Read
	read        func(*http.Request) (any, error)
}

// titled is a page with its own title.
type titled interface{ title() string }

// page renders a page, or an error page.
func (s *server) page(p page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), askTime)
		defer cancel()
		var body any
		err := allowed(r, cmp.Or(p.scope, caller.Read))
		if err == nil {
			body, err = p.read(r.WithContext(ctx))
		}
		if err != nil {
			s.failed(w, r, err)
			return
		}
		if to, ok := body.(redirectTo); ok {
			http.Redirect(w, r, string(to), http.StatusSeeOther)
			return
		}
		title := p.title
		if of, ok := body.(titled); ok {
			title = of.title()
		}
		s.render(w, r, http.StatusOK, p.name, title, body)
	}
}

// allowed returns an error if the sender of a request lacks a scope.
func allowed(r *http.Request, scope caller.Scope) error {
	if c := caller.Of(r.Context()); !c.May(scope) {
		return forbidden{fmt.Errorf("your token lacks the scope %s", scope)}
	}
	return nil
}
