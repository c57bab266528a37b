package scriptweb

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"
)

// secretText is in every visible answer below /secret/.
const secretText = "words that are secret"

// secret serves the target of an attack. CORS allows everyone to read it, so that nothing hides a
// successful attack.
func secret(rw http.ResponseWriter, r *http.Request) {
	h := rw.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", "*")
	h.Set("Access-Control-Allow-Headers", "*")
	switch {
	case strings.HasSuffix(r.URL.Path, ".js"):
		h.Set("Content-Type", "text/javascript")
		fmt.Fprintf(rw, "globalThis.document?.body?.append(%q)", secretText)
	case strings.Contains(r.URL.Path, "css") || strings.Contains(r.URL.Path, "style"):
		h.Set("Content-Type", "text/css")
		fmt.Fprintf(rw, "body::before { content: %q }", secretText)
	default:
		writeHTML(rw, "<!doctype html><p>"+secretText)
	}
}

// answerByExtension serves files with meaningless content. It reports whether the extension is one
// of theirs.
func answerByExtension(rw http.ResponseWriter, r *http.Request) bool {
	switch path.Ext(r.URL.Path) {
	case ".png":
		rw.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(rw, pixel)
	case ".pdf":
		rw.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(rw, paper)
	case ".bin":
		rw.Header().Set("Content-Type", "application/octet-stream")
		rw.Header().Set("Content-Disposition", `attachment; filename="archive.bin"`)
		fmt.Fprint(rw, strings.Repeat("bin", 1000))
	default:
		return false
	}
	return true
}

// pixel is a PNG of one pixel; paper is a PDF of one empty page.
const (
	pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"
	paper = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)

func echoBody(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	fmt.Fprintf(rw, "the server was sent %s", body)
}

func echoCookies(rw http.ResponseWriter, r *http.Request) {
	got := "nothing"
	if c := r.Header.Get("Cookie"); c != "" {
		got = c
	}
	fmt.Fprint(rw, got) //nolint:gosec // only tests see it
}

func askPassword(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("WWW-Authenticate", `Basic realm="members"`)
	http.Error(rw, "members only", http.StatusUnauthorized)
}

// streamed sends a text in two parts, 100 ms apart.
func streamed(rw http.ResponseWriter, r *http.Request) {
	fmt.Fprint(rw, "streamed in ")
	_ = http.NewResponseController(rw).Flush()
	select {
	case <-time.After(100 * time.Millisecond):
	case <-r.Context().Done():
	}
	fmt.Fprint(rw, "two parts")
}
