package pages

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"seine/internal/serve/caller"
	"seine/internal/serve/cluster"
)

//go:embed templates
var templateFiles embed.FS

// parse returns the templates of pages by name, each with the frame and the shared parts.
func parse(s *server) map[string]*template.Template {
	base := template.Must(template.New("").Funcs(s.funcs()).ParseFS(templateFiles, "templates/*.html"))
	all := make(map[string]*template.Template)
	names, _ := fs.Glob(templateFiles, "templates/pages/*.html") // the pattern is valid
	for _, name := range names {
		all[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, name))
	}
	return all
}

// frame is the data of the frame around every page.
type frame struct {
	Name, Title string
	Said        string // result of the last form
	Write       bool   // the reader may change something
	Audit       bool   // the reader may see the audit log
	Theme       string // light, dark, or "" for the system's setting
	ReadOnly    bool
	Dead        uint64
	Alerts      int
	At          time.Time // time of the data
	Trouble     string    // why the data is outdated
	Note        string    // a note about the data
	Live        bool      // the page can be updated
	Body        any
	server      *server
	request     *http.Request
}

// With returns the address of the current page with changes to its query.
func (f *frame) With(query ...string) string { return f.server.same(f.request, query...) }

// Query returns a query parameter.
func (f *frame) Query(name string) string { return f.request.FormValue(name) }

// Here returns the address of the current page without the prefix.
func (f *frame) Here() string { return strings.TrimPrefix(f.server.same(f.request), f.server.Prefix) }

func (s *server) render(w http.ResponseWriter, r *http.Request, status int, name, title string, body any) {
	look := s.look(r.Context())
	f := frame{server: s, request: r, Name: name, Title: title, Theme: themeOf(r), ReadOnly: s.ReadOnly, Body: body, Live: name != "error" && r.Method == http.MethodGet}
	f.Said = s.said(w, r)
	f.Write, f.Audit = !s.ReadOnly && allowed(r, caller.Write) == nil, allowed(r, caller.Audit) == nil
	switch {
	case look.Mode == cluster.Away:
		f.Trouble = "NATS cannot be reached."
	case look.Mode == cluster.Stored:
		f.Note = "No process works on these crawls: what is shown is what they have stored."
	case look.Problem != "":
		f.Trouble = "The cluster does not answer: " + look.Problem + "."
	}
	if look.Overview != nil {
		f.At, f.Dead, f.Alerts = look.At, look.Dead, len(look.Alerts)+len(look.Warnings)
	}
	var text bytes.Buffer
	err := s.templates[name].ExecuteTemplate(&text, "frame.html", &f)
	if err != nil {
		s.Log.Error("cannot make a page", "page", name, "error", err)
		http.Error(w, "this page cannot be rendered; see the log of the server", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = text.WriteTo(w) // the client may be gone
}

// themeCookie stores the chosen theme.
const themeCookie = "seine-theme"

func themeOf(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}
