package pageproxy

import (
	"net/http"
	"strconv"
	"strings"

	"seine/internal/base/weburl"
)

// Document is a document that was fetched before.
type Document struct {
	// URL is the URL of the response: the last one, if there were redirects. Spellings with the
	// same canonical form (weburl) are equivalent.
	URL    string
	Status int // 200 is served if it is not a final status
	// Header is the header of the response. Fields about the connection and the coding of the body
	// are omitted when it is served.
	Header http.Header
	// Body has no content coding.
	Body []byte
}

// notServed are fields about the transfer of the response, which do not apply when it is served,
// and an offer of a way around the proxy.
var notServed = []string{
	"Alt-Svc", "Connection", "Content-Encoding", "Content-Length", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection",
	refusedField, "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// isMain reports whether a request is a navigation to the document.
func (v *visit) isMain(r *http.Request) bool {
	return v.mainURL != "" && r.Method == http.MethodGet && isNavigation(r.Header) && canonicalURL(rawURL(r.URL, r.RequestURI)) == v.mainURL
}

// isNavigation distinguishes a navigation from a script's request for data at the same URL.
// Browsers state the mode only to https sites; to others they state that they accept HTML. A
// request that states neither is not a browser's, and counts as a navigation.
func isNavigation(h http.Header) bool {
	if h.Get("Upgrade") != "" {
		return false
	}
	if mode := h.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	accept := h.Get("Accept")
	return accept == "" || strings.Contains(accept, "text/html")
}

func (d *Document) serve(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range d.Header {
		for _, value := range values {
			h.Add(name, value)
		}
	}
	for _, name := range notServed {
		h.Del(name)
	}
	status := d.Status
	if status < 200 || status > 599 {
		status = http.StatusOK
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(d.Body)))
	}
	bare{w}.WriteHeader(status)
	_, _ = w.Write(d.Body) // the browser may have gone, or the status has no body
}

// canonicalURL returns the canonical form of a URL, or the URL unchanged if it has none, such as
// one that is too long.
func canonicalURL(u string) string {
	canonical, err := weburl.Canonicalize(u)
	if err != nil {
		return u
	}
	return canonical
}
