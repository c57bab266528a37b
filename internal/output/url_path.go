package output

import (
	"fmt"
	"net/url"
	"strings"

	"seine/pkg/messages"
)

// placePath is the placeholder in keys for a URL's path and query.
const placePath = "path"

// indexName is the file name for a path that ends in a slash.
const indexName = "index"

// Limits of a path in bytes: a longer one is replaced by the hash of the URL.
const (
	maxPath = 600
	maxName = 220 // of the last segment
)

// escapePath converts the path and query of a URL to folders and a name. Different URLs of a host
// have different results, and no name is also a folder. after is the text that follows the name.
func escapePath(u, after string, foldCase bool) string {
	_, rest, _ := strings.Cut(u, "://")
	_, rest, _ = strings.Cut(rest, "/")
	path, query, hasQuery := strings.Cut(rest, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if value, err := url.PathUnescape(s); err == nil {
			s = value
		}
		if s = escapeValue(s, foldCase); i < len(segments)-1 {
			segments[i] = escapeFolder(s, after)
		} else {
			segments[i] = escapeName(s)
		}
	}
	p := strings.Join(segments, "/")
	if hasQuery { // no name contains '~' before this
		p += "~" + escapeValue(query, foldCase)
	}
	if len(p) > maxPath || len(p)-strings.LastIndex(p, "/") > maxName {
		return "~" + messages.HashURL(u).String()
	}
	return p
}

func escapeName(name string) string {
	switch name {
	case "":
		return indexName
	case indexName:
		return "%69ndex"
	}
	return name
}

// escapeFolder returns a folder name that is not empty and that no file can have.
func escapeFolder(name, after string) string {
	if name == "" {
		return "%"
	}
	if end := len(name) - 1; after != "" && strings.HasSuffix(strings.ToLower(name), strings.ToLower(after)) {
		return name[:end] + fmt.Sprintf("%%%02X", name[end])
	}
	return name
}

// textAfter returns the literal text after the first of some parts.
func textAfter(parts []keyPart) string {
	if len(parts) < 2 {
		return ""
	}
	return parts[1].text
}
