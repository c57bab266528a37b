package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"seine/internal/run/specfile"
)

//go:embed static
var static embed.FS

// edition distinguishes the static files of this build from those of another, so that browsers may keep them for
// ever.
var edition = sync.OnceValue(func() string {
	h := sha256.New()
	_ = fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := static.ReadFile(name) // it is in this program
			h.Write([]byte(name))
			h.Write(text)
		}
		return err
	})
	h.Write(specfile.Schema)
	return hex.EncodeToString(h.Sum(nil))[:12]
})

// StyleSheet is the path of the style of all pages, without the prefix.
func StyleSheet() string { return "/static/" + edition() + "/seine.css" }

// specSchema is the name of the JSON Schema of specs, which editors of specs load.
const specSchema = "/spec.schema.json"

// types are those of static files; nothing is left to the tables of the machine.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// serveStatic answers for /static/EDITION/NAME.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	_, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/static/"), "/")
	name = path.Clean("/" + name)
	text, err := static.ReadFile("static" + name)
	kind := types[path.Ext(name)]
	if name == specSchema {
		text, kind, err = specfile.Schema, "application/schema+json", nil
	}
	if err != nil || kind == "" {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(text) //nolint:gosec // it is in this program
}
