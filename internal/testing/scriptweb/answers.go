package scriptweb

import (
	"embed"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed site
var site embed.FS

// answer is the handler of all servers: answers depend on the path, not on the host.
func (w *Web) answer(rw http.ResponseWriter, r *http.Request) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if rest != "" && w.answerUnder(rw, r, first, rest) {
		return
	}
	if answer := w.answers()[r.URL.Path]; answer != nil {
		answer(rw, r)
		return
	}
	w.file(rw, r)
}

// answerUnder answers paths by their first part. It reports whether it did.
func (w *Web) answerUnder(rw http.ResponseWriter, r *http.Request, first, rest string) bool {
	if rest == "target" {
		first = "leaf"
	}
	switch first {
	case "hang":
		w.hang(r)
	case "secret":
		secret(rw, r)
	case "leaf":
		writeHTML(rw, "<!doctype html><title>Leaf</title><p>leaf of "+html.EscapeString(rest))
	case "shop", "static", "app", "light", "lights", "api":
		return shop(rw, first, rest)
	case "members":
		w.members(rw, r, rest)
	case "club":
		w.club(rw, r, rest)
	case "attack-redirect":
		http.Redirect(rw, r, w.Other()+"/secret/"+path.Base(rest), http.StatusFound) //nolint:gosec // the redirect is the attack
	case "push-state-router":
		r.URL.Path = "/push-state-router"
		return false
	default:
		return answerByExtension(rw, r)
	}
	return true
}

// answers are handlers by path for content that is not a file.
func (w *Web) answers() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/":                         w.index,
		"/fetch-post/query":         echoBody,
		"/paginated-api/items":      entries("paged", 10),
		"/infinite-scroll/items":    entries("endless", 100_000),
		"/finite-scroll/items":      entries("finite", 70),
		"/websocket-data/socket":    w.socket,
		"/sse-data/events":          w.events(true),
		"/leads-to-204/none":        func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNoContent) },
		"/sse-open/events":          w.events(false),
		"/streamed-body/parts":      streamed,
		"/never-idle/poll":          func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "{}") },
		"/cookies/echo":             echoCookies,
		"/http-auth/resource":       askPassword,
		"/http-auth/frame":          askPassword,
		"/attack-reports/words.txt": func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "words") },
	}
}

// file answers with a file of site/; the name of a page omits the extension .html.
func (w *Web) file(rw http.ResponseWriter, r *http.Request) {
	name := "site" + path.Clean(r.URL.Path)
	content, err := fs.ReadFile(site, name+".html")
	if err != nil {
		content, err = fs.ReadFile(site, name)
	}
	if err != nil {
		http.NotFound(rw, r)
		return
	}
	maps.Copy(rw.Header(), policies(w.Other())[r.URL.Path])
	rw.Header().Set("Content-Type", typeOf(name))
	if r.URL.Path == "/cookies/set" {
		http.SetCookie(rw, &http.Cookie{Name: "dish", Value: "served", Path: "/cookies", HttpOnly: true}) //nolint:gosec // by HTTP, in a test
	}
	fmt.Fprint(rw, w.fill(string(content))) //nolint:gosec // a file of site/
}

func typeOf(name string) string {
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "text/html; charset=utf-8"
}

// fill inserts addresses into a page.
func (w *Web) fill(text string) string {
	addresses := []string{"{{other}}", w.Other(), "{{elsewhere}}", w.Elsewhere(), "{{secure}}", w.Secure()}
	for name, socket := range w.udp {
		addresses = append(addresses, "{{"+name+"}}", socket.LocalAddr().String())
	}
	return strings.NewReplacer(addresses...).Replace(text)
}

// index links all pages, so that a crawl can start there.
func (w *Web) index(rw http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Index</title>")
	for _, p := range Pages() {
		fmt.Fprintf(&b, "<a href=%q>%s</a>\n", p.Path, p.Name)
	}
	writeHTML(rw, b.String())
}

func writeHTML(rw http.ResponseWriter, text string) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(rw, text)
}

// hang sends nothing until the client leaves or the Web is closed.
func (w *Web) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-w.ended:
	}
}
