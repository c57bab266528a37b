// Package challenge distinguishes the pages by which a site checks for a person from
// the requested pages. It is for a crawler that needs to know that it is
// blocked; nothing here helps to pass.
//
// One table has the marks that count: those that the makers of such pages document, or
// that public programs which read such pages go by, never by words that a page may have otherwise. A body is
// looked at only if it is small HTML that says next to nothing: a page with a CAPTCHA in a
// form, or about them, has other text. Gates without such a mark are not
// recognised: a "403 Access Denied" of a CDN is a 403, and a page that is nothing but a CAPTCHA
// that the site made itself is a page.
package challenge

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// MaxBody is the largest body that may be a challenge, in bytes, decoded.
const MaxBody = 64 << 10

// maxText is how many bytes of text a challenge says at most.
const maxText = 1500

// byHeader are the marks in the header of an answer.
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

// byBody are the marks in a body, of which it must have all.
var byBody = []struct {
	vendor string
	marks  []string
}{
	// The same page where a proxy in between has dropped the header.
	{"Cloudflare", []string{"_cf_chl_opt", "/cdn-cgi/challenge-platform/"}},
	// The page has the settings of its script, with the host that serves it.
	{"DataDome", []string{"var dd=", "captcha-delivery.com"}},
	// The element of a block page for the challenge, and the settings of its script.
	{"HUMAN", []string{"px-captcha", "_pxAppId"}},
	// The resource of a challenge, and the text for clients that do not run it.
	{"Imperva", []string{"_Incapsula_Resource", "Incapsula incident ID"}},
	// The script of the firewall that sets a cookie and loads the page again.
	{"Sucuri", []string{"sucuri_cloudproxy_js"}},
	// The page loads all it has from there.
	{"DDoS-Guard", []string{"/.well-known/ddos-guard/", "<title>DDoS-Guard</title>"}},
	{"DDoS-Guard", []string{"/.well-known/ddos-guard/", "<title>DDOS-GUARD</title>"}},
	// The element with the task. Its answers have status 200 by default.
	{"Anubis", []string{`id="anubis_challenge"`}},
}

// InHeader returns the service that challenges with such a header, "" if none does.
func InHeader(h http.Header) string {
	for _, row := range byHeader {
		if slices.Contains(row.values, strings.ToLower(strings.TrimSpace(h.Get(row.field)))) {
			return row.vendor
		}
	}
	return ""
}

// InBody returns the service that challenges with an HTML document, all of it, "" if none does. Of most
// pages it reads no more than shows that they have text.
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

// saysNothing reports whether a document has next to no text. It looks at the outer form of
// tags alone: a script or a style is no text.
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

// afterTag returns what follows a tag, of a comment, a script or a style what follows its end.
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

// fromEnd returns what follows from the end tag of an element on, nothing if it has none.
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
