package testweb

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// specialAnswers serves rare and malformed answers.
type specialAnswers struct{ *Web }

const specialPrefix = "/special/"

// specials are the answers by name; see the comments of the functions.
var specials = map[string]func(specialAnswers, http.ResponseWriter, *http.Request){
	"":               specialAnswers.specialIndex,
	"ok":             specialAnswers.specialOK,
	"big":            specialAnswers.specialBig,
	"endless":        specialAnswers.specialEndless,
	"slow":           specialAnswers.specialSlow,
	"drip":           specialAnswers.specialDrip,
	"stall":          specialAnswers.specialStall,
	"oneline":        specialAnswers.specialOneLine,
	"gzip":           specialAnswers.specialGzip,
	"deflate":        specialAnswers.specialDeflate,
	"brokengzip":     specialAnswers.specialBrokenGzip,
	"bomb":           specialAnswers.specialBomb,
	"reset":          specialAnswers.specialReset,
	"badlength":      specialAnswers.specialBadLength,
	"redirect-loop":  specialAnswers.specialRedirectLoop,
	"redirect-chain": specialAnswers.specialRedirectChain,
	"status":         specialAnswers.specialStatus,
	"headers":        specialAnswers.specialHeaders,
	"empty":          specialAnswers.specialEmpty,
	"type":           specialAnswers.specialType,
}

// finite are the links of the index: all answers that end by themselves.
var finite = []string{
	"ok", "big?mb=1", "slow?ms=200", "drip?n=10&ms=10", "oneline?kb=512", "charset/latin1", "charset/utf16",
	"charset/shift_jis", "charset/wrong", "charset/invalid", "gzip", "deflate", "deflate?raw=1", "brokengzip",
	"bomb?mb=64", "reset", "badlength", "badlength?over=1", "redirect-loop", "redirect-chain?n=5", "status?code=404",
	"status?code=503&retry_after=1", "headers?kb=16", "empty", "type?t=image/png",
}

// special serves paths below /special/ of host 0.
func (s specialAnswers) special(rw http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, specialPrefix)
	if charset, ok := strings.CutPrefix(name, "charset/"); ok {
		s.specialCharset(rw, r, charset)
		return
	}
	h, ok := specials[name]
	if !ok {
		notFound(rw)
		return
	}
	h(s, rw, r)
}

// specialIndex links all finite answers.
func (s specialAnswers) specialIndex(rw http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	b.WriteString("<ul>\n")
	for _, path := range finite {
		path = html.EscapeString(path)
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a>\n", path, path)
	}
	b.WriteString("</ul>\n")
	send(rw, r, typeHTML, specialPage("Special", b.String()))
}

// specialOK serves a plain page.
func (s specialAnswers) specialOK(rw http.ResponseWriter, r *http.Request) {
	send(rw, r, typeHTML, specialPage("Fine", "<p>All is well.</p>\n"))
}

// specialRedirectLoop redirects to itself through another URL.
func (s specialAnswers) specialRedirectLoop(rw http.ResponseWriter, r *http.Request) {
	to := "redirect-loop?again=1"
	if r.URL.RawQuery != "" {
		to = "redirect-loop"
	}
	location(rw, to, http.StatusFound)
}

// specialRedirectChain serves ?n= (default 5) redirects of all four kinds to /special/ok.
func (s specialAnswers) specialRedirectChain(rw http.ResponseWriter, r *http.Request) {
	n := param(r, "n", 5, 10_000)
	to := specialPrefix + "ok"
	if n > 1 {
		to = "redirect-chain?n=" + strconv.Itoa(n-1)
	}
	location(rw, to, redirectStatus(n))
}

// specialStatus answers with ?code= (default 500) and the Retry-After in ?retry_after=.
func (s specialAnswers) specialStatus(rw http.ResponseWriter, r *http.Request) {
	code := param(r, "code", http.StatusInternalServerError, 999)
	if after := r.URL.Query().Get("retry_after"); after != "" {
		rw.Header().Set("Retry-After", after)
	}
	if code < 200 || code == http.StatusNoContent || code == http.StatusNotModified {
		rw.WriteHeader(max(code, 200))
		return
	}
	http.Error(rw, http.StatusText(code), code)
}

// specialHeaders sends ?kb= (default 64) of headers, in lines of 1 KB.
func (s specialAnswers) specialHeaders(rw http.ResponseWriter, r *http.Request) {
	value := strings.Repeat("x", 1000)
	for n := range param(r, "kb", 64, 16<<10) {
		rw.Header().Set(fmt.Sprintf("X-Filler-%05d", n), value)
	}
	s.specialOK(rw, r)
}

// specialEmpty serves an empty HTML body.
func (s specialAnswers) specialEmpty(rw http.ResponseWriter, r *http.Request) {
	send(rw, r, typeHTML, nil)
}

// specialType serves a kilobyte with the type ?t= (default application/octet-stream).
func (s specialAnswers) specialType(rw http.ResponseWriter, r *http.Request) {
	t := r.URL.Query().Get("t")
	if t == "" {
		t = "application/octet-stream"
	}
	send(rw, r, []string{t}, bytes.Repeat([]byte{0, 1, 2, 0xff}, 256))
}

// specialSlow sends its first byte after ?ms= (default 1000).
func (s specialAnswers) specialSlow(rw http.ResponseWriter, r *http.Request) {
	if sleep(r.Context(), millis(r, 1000)) {
		s.specialOK(rw, r)
	}
}

func specialPage(title, body string) []byte {
	return []byte("<!DOCTYPE html>\n<html><head><title>" + title + "</title></head>\n<body>\n<h1>" + title + "</h1>\n" +
		body + "<p><a href=\"" + specialPrefix + "\">Special</a></p>\n</body></html>\n")
}

// param parses a number of the query, limited to 0 to most.
func param(r *http.Request, name string, def, most int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil {
		return def
	}
	return min(max(n, 0), most)
}

// millis parses ?ms=, at most ten minutes.
func millis(r *http.Request, def int) time.Duration {
	return time.Duration(param(r, "ms", def, 600_000)) * time.Millisecond
}
