package pageproxy

import (
	"net/http"
	"strconv"
	"strings"

	"seine/internal/base/weburl"
)

// Document is what was fetched from a URL before.
type Document struct {
	// URL is that of the response: the last one, if there were redirects. Any
	// spelling that weburl takes for the same is the same.
	URL    string
	Status int // 200 if it is not that of a final response
	// Header is that of the response. Fields about the connection and the coding of the
	// body are left out when it is served.
	Header http.Header
	// Body is without content coding.
	Body []byte
}

// notServed are fields that say how the response came, which is not how it is passed on;
// and an offer of a way past the proxy.
var notServed = []string{
	"Alt-Svc", "Connection", "Content-Encoding", "Content-Length", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection",
	refusedField, "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// isMain reports whether a request is a navigation to the document.
func (v *visit) isMain(r *http.Request) bool {
	return v.mainURL != "" && r.Method == http.MethodGet && isNavigation(r.Header) && canonicalURL(rawURL(r.URL, r.RequestURI)) == v.mainURL
}

// isNavigation tells the request for a document from that of a script for data
// at the same URL. Browsers say it to https sites only; to others they say that they want HTML.
// A request that says nothing comes from no browser, and is taken for one.
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
	_, _ = w.Write(d.Body) // to a browser that has gone, or for a status without a body
}

// canonicalURL leaves a URL as it is that has no canonical form, as it is too long.
func canonicalURL(u string) string {
	canonical, err := weburl.Canonicalize(u)
	if err != nil {
		return u
	}
	return canonical
}
