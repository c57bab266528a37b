// Package vueapp is a shop built with Vue, for tests. Its pages show nothing without JavaScript:
// the server answers every route with the same empty shell, and the browser shows the data of a
// JSON API. scripts/vueapp builds it.
//
// Its pages are / (the categories), /about, /category/NAME for lamps, chairs, tables and offers,
// and /item/ID for each item. A category shows 12 items at first. It loads 12 more when the end of
// the list comes into view (lamps and tables), or by a click on button.more (chairs and offers).
// Each item is in lamps, chairs or tables; every fifth one is also in offers. Only the lists of
// categories link to items. The page of an item is a separate script chunk that is loaded when the
// first item is shown.
package vueapp

import (
	"bytes"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"seine/internal/testing/testweb"
)

// App is a server of the shop.
type App struct {
	*testweb.Log
	server *testweb.Server
	items  []Item
}

// Start serves a shop with a number of items on a free port of the loopback address until the end
// of the test. If the application is not built, it fails in CI and skips the test elsewhere.
func Start(t testing.TB, items int) *App {
	t.Helper()
	dir := built(t)
	shell, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	app := &App{Log: testweb.NewLog(0), items: makeItems(items)}
	mux := http.NewServeMux()
	mux.Handle("/api/", api(app.items))
	mux.Handle("/assets/", assets(dir))
	mux.Handle("/", everyRoute(shell))
	app.server = testweb.Run(t, app.Handler(mux, nil))
	return app
}

// URL returns the URL of the server, without a trailing slash.
func (app *App) URL() string { return "http://" + app.server.Addr() }

// Items returns all items in the order of their IDs.
func (app *App) Items() []Item { return slices.Clone(app.items) }

// everyRoute serves the same shell for every page, as servers of such applications do. Paths with a
// file extension, such as robots.txt, are not found.
func everyRoute(shell []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Ext(r.URL.Path) != "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "index.html", time.Time{}, bytes.NewReader(shell))
	})
}

// assets serves the scripts and styles that Vite built. Browsers may cache them, because their
// names change with their content.
func assets(dir string) http.Handler {
	files := http.FileServerFS(os.DirFS(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") { // a directory listing
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		files.ServeHTTP(w, r)
	})
}
