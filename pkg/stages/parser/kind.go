package parser

import (
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// kinds of documents that have a reader.
const (
	kindOther = iota
	kindHTML
	kindText
	kindXML // or XML in gzip
)

// kind decides by the declared type, or by the first bytes if none is declared.
func kind(contentType string, body []byte) int {
	if contentType == "" {
		contentType = http.DetectContentType(body)
	}
	// What follows the type may be malformed; the type counts all the same.
	media, _, _ := mime.ParseMediaType(contentType)
	switch media {
	case "text/html", "application/xhtml+xml":
		return kindHTML
	case "text/plain":
		return kindText
	case "text/xml", "application/xml", "application/gzip", "application/x-gzip":
		return kindXML
	}
	if strings.HasSuffix(media, "+xml") {
		return kindXML
	}
	return kindOther
}

// clip shortens s to at most n bytes at a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
