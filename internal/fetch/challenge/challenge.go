// Package challenge distinguishes pages by which a site checks for a person from the requested
// pages. It is for a crawler that needs to know that it is blocked; nothing here helps to pass.
//
// Tables list the marks that count. The makers of such pages document them, or public programs that
// detect such pages use them. They are never words that a page may contain otherwise. A body is
// checked only if it is small HTML with almost no text: a page with a CAPTCHA in a form, or about
// CAPTCHAs, has other text. Gates without such a mark are not recognised: a "403 Access Denied" of
// a CDN is a 403, and a page that only has the site's own CAPTCHA is a page.
package challenge

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// MaxBody is the maximum size of a challenge's body, decoded, in bytes.
const MaxBody = 64 << 10

// maxText is the maximum text of a challenge in bytes.
const maxText = 1500

// byHeader lists the marks in the header of a response.
var byHeader = []struct {
	vendor, field string
	values        []string
}{
	// developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response
	{"Cloudflare", "Cf-Mitigated", []string{"challenge"}},
	// docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-actions.html:
	// a challenge has status 202, a CAPTCHA 405
	{"AWS WAF", "X-Amzn-Waf-Action", []string{"challenge", "captcha"}},
}

// byBody lists the marks in a body, all of which it must have.
var byBody = []struct {
	vendor string
	marks  []string
}{
	// The same page where a proxy in between has dropped the header.
	{"Cloudflare", []string{"_cf_chl_opt", "/cdn-cgi/challenge-platform/"}},
	// The page has the settings of its script, including the host that serves it.
	{"DataDome", []string{"var dd=", "captcha-delivery.com"}},
	// The element of a block page for the challenge, and the settings of its script.
	{"HUMAN", []string{"px-captcha", "_pxAppId"}},
	// The resource of a challenge, and the text for clients that do not run it.
	{"Imperva", []string{"_Incapsula_Resource", "Incapsula incident ID"}},
	// The script of the firewall that sets a cookie and loads the page again.
	{"Sucuri", []string{"sucuri_cloudproxy_js"}},
	// The page loads all its resources from there.
	{"DDoS-Guard", []string{"/.well-known/ddos-guard/", "<title>DDoS-Guard</title>"}},
	{"DDoS-Guard", []string{"/.well-known/ddos-guard/", "<title>DDOS-GUARD</title>"}},
	// The element with the task. Anubis answers with status 200 by default.
	{"Anubis", []string{`id="anubis_challenge"`}},
}

// InHeader returns the service whose challenge has such a header, "" if none.
func InHeader(h http.Header) string {
	for _, row := range byHeader {
		if slices.Contains(row.values, strings.ToLower(strings.TrimSpace(h.Get(row.field)))) {
			return row.vendor
		}
	}
	return ""
}

// InBody returns the service whose challenge is a complete HTML document, "" if none. Of most pages
// it reads only enough to see that they have text.
func InBody(html []byte) string {
	if len(html) > MaxBody || !saysNothing(html) {
		return ""
	}
	for _, row := range byBody {
		if !slices.ContainsFunc(row.marks, func(mark string) bool { return !bytes.Contains(html, []byte(mark)) }) {
			return row.vendor
		}
	}
	return ""
}

// saysNothing reports whether a document has almost no text. It only checks the outer form of tags:
// a script or a style is not text.
func saysNothing(html []byte) bool {
	text := 0
	for rest := html; len(rest) > 0 && text <= maxText; {
		before, tag, found := bytes.Cut(rest, []byte("<"))
		text += len(bytes.TrimSpace(before))
		if !found {
			break
		}
		rest = afterTag(tag)
	}
	return text <= maxText
}

// afterTag returns the rest after a tag; for a comment, a script or a style, the rest after its
// end.
func afterTag(tag []byte) []byte {
	switch {
	case bytes.HasPrefix(tag, []byte("!--")):
		_, rest, _ := bytes.Cut(tag, []byte("-->"))
		return rest
	case begins(tag, "script"):
		tag = fromEnd(tag, "script")
	case begins(tag, "style"):
		tag = fromEnd(tag, "style")
	}
	_, rest, _ := bytes.Cut(tag, []byte(">"))
	return rest
}

// fromEnd returns the rest from an element's end tag on, nothing if it has none.
func fromEnd(tag []byte, name string) []byte {
	for {
		_, after, found := bytes.Cut(tag, []byte("</"))
		if !found || begins(after, name) {
			return after
		}
		tag = after
	}
}

func begins(tag []byte, name string) bool {
	return len(tag) >= len(name) && strings.EqualFold(string(tag[:len(name)]), name)
}
