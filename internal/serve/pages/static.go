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

// edition identifies the static files of this build, so that browsers may cache them indefinitely.
var edition = sync.OnceValue(func() string {
	h := sha256.New()
	_ = fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := static.ReadFile(name) // embedded, cannot fail
			h.Write([]byte(name))
			h.Write(text)
		}
		return err
	})
	h.Write(specfile.Schema)
	return hex.EncodeToString(h.Sum(nil))[:12]
})

// StyleSheet returns the path of the style sheet, without the prefix.
func StyleSheet() string { return "/static/" + edition() + "/seine.css" }

// specSchema is the name of the JSON Schema of specs, for editors.
const specSchema = "/spec.schema.json"

// types are the media types of static files, independent of the machine's tables.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// serveStatic handles /static/EDITION/NAME.
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
	_, _ = w.Write(text) //nolint:gosec // embedded
}
