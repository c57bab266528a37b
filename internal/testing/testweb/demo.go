package testweb

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
)

//go:embed demo
var demoFiles embed.FS

// demoMoved are the redirects of the demo site.
var demoMoved = map[string]struct {
	to     string
	status int
}{
	"/river":         {"/rivers/seine.html", http.StatusMovedPermanently},
	"/old-nets.html": {"/nets/", http.StatusFound},
}

// Demo serves a small hand-written site about rivers and nets: fourteen pages to find, one that robots.txt forbids,
// two redirects, one dead link, and links to fragments.
func Demo() http.Handler {
	files := demoFS()
	static := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if moved, ok := demoMoved[r.URL.Path]; ok {
			http.Redirect(w, r, moved.to, moved.status)
			return
		}
		if !exists(files, r.URL.Path) {
			demoMissing(w, files)
			return
		}
		static.ServeHTTP(w, r)
	})
}

// DemoPages lists the paths of the HTML pages that a crawler obeying robots.txt finds from "/".
func DemoPages() []string {
	files := demoFS()
	var pages []string
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error { // embedded, so it cannot fail
		hidden := strings.HasPrefix(name, "private/") || name == "404.html"
		if err == nil && !d.IsDir() && path.Ext(name) == ".html" && !hidden {
			pages = append(pages, "/"+strings.TrimSuffix(name, "index.html"))
		}
		return nil
	})
	slices.Sort(pages)
	return pages
}

func demoFS() fs.FS {
	files, err := fs.Sub(demoFiles, "demo")
	if err != nil {
		panic(err) // only for an invalid name
	}
	return files
}

// exists reports whether a path is a file, or a folder with an index; other folders are not listed.
func exists(files fs.FS, urlPath string) bool {
	name := path.Join(".", urlPath)
	info, err := fs.Stat(files, name)
	if err == nil && info.IsDir() {
		_, err = fs.Stat(files, path.Join(name, "index.html"))
	}
	return err == nil
}

func demoMissing(w http.ResponseWriter, files fs.FS) {
	w.Header()["Content-Type"] = typeHTML
	w.WriteHeader(http.StatusNotFound)
	if body, err := fs.ReadFile(files, "404.html"); err == nil {
		_, _ = w.Write(body)
	}
}
