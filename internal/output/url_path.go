package output

import (
	"fmt"
	"net/url"
	"strings"

	"seine/pkg/messages"
)

// placePath is the place of a URL's path and query in the key of an object.
const placePath = "path"

// indexName is the name of a path that ends in a slash.
const indexName = "index"

// Bounds of a path in bytes: the hash of the URL stands for one that is longer.
const (
	maxPath = 600
	maxName = 220 // of the name
)

// escapePath makes the path and the query of a URL folders and a name, so that different URLs of a host have different
// ones, and no name is also that of a folder. After is the text behind the name.
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
	if hasQuery { // no name has this sign before
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

// escapeFolder makes a name one that is not empty, and that no file has.
func escapeFolder(name, after string) string {
	if name == "" {
		return "%"
	}
	if end := len(name) - 1; after != "" && strings.HasSuffix(strings.ToLower(name), strings.ToLower(after)) {
		return name[:end] + fmt.Sprintf("%%%02X", name[end])
	}
	return name
}

// textAfter returns the text behind the first of some parts.
func textAfter(parts []keyPart) string {
	if len(parts) < 2 {
		return ""
	}
	return parts[1].text
}
