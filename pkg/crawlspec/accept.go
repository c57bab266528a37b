package crawlspec

import (
	"fmt"
	"slices"
	"strings"

	"seine/pkg/messages"
)

// documentMedia are the usual media types of the types of documents. A site may send any of them
// under another media type; Accept adds that.
var documentMedia = map[string][]string{
	"html":    {"text/html", "application/xhtml+xml"},
	"xml":     {"application/xml", "text/xml"},
	"json":    {"application/json", "application/x-ndjson", "application/jsonl", "application/ld+json", "text/json"},
	"feed":    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml", "application/json", "application/xml", "text/xml"},
	"csv":     {"text/csv", "text/tab-separated-values", "application/csv"},
	"text":    {"text/plain"},
	"sitemap": {"application/xml", "text/xml"},
	"pdf":     {"application/pdf"},
	"office":  mediaOf("docx", "xlsx", "pptx", "odt", "ods", "odp", "epub", "rtf", "doc", "xls", "ppt"),
}

// sitemapMedia are the usual media types of sitemaps.
var sitemapMedia = []string{"application/xml", "text/xml", "application/gzip", "application/x-gzip"}

// NamedMedia are the media types of sitemaps and feeds, which are read if a seed or a robots.txt
// names one.
var NamedMedia = append([]string{"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"}, sitemapMedia...)

// Accepts returns the media types that the spec accepts in addition to those that a fetcher always
// accepts: those of Accept, of its rules, and of sitemaps.
func (s *Spec) Accepts() []string {
	var media []string
	add := func(types []string) {
		for _, t := range types {
			if !slices.Contains(media, t) {
				media = append(media, t)
			}
		}
	}
	for _, t := range s.Accept {
		if types := documentMedia[t]; types != nil {
			add(types)
		} else {
			media = append(media, t)
		}
	}
	if s.Sitemaps {
		add(sitemapMedia)
	}
	if slices.Contains(s.Links.Follow, "feed") {
		add(documentMedia["feed"])
	}
	for _, r := range s.Rules() {
		for _, t := range r.documentTypes() {
			add(documentMedia[t])
		}
	}
	for i := range s.Follow {
		for _, t := range s.Follow[i].documentTypes() {
			add(documentMedia[t])
		}
	}
	return media
}

// AcceptOf returns the entry of Accept for files with an extension: the name of a type, or a media
// type.
func AcceptOf(extension string) string {
	if documentMedia[extension] != nil {
		return extension
	}
	return extensionMedia[extension]
}

// documentTypes returns the types of document that a rule applies to. A rule without types that has
// selectors for JSON applies to json.
func (r *RecordRule) documentTypes() []string {
	if len(r.Types) > 0 {
		return r.Types
	}
	if r.Each.readsJSON() || r.When.readsJSON() || r.Fields.readJSON() {
		return []string{"json"}
	}
	return nil
}

func (r *FollowRule) documentTypes() []string {
	if len(r.Types) > 0 {
		return r.Types
	}
	if r.Each.readsJSON() || r.When.readsJSON() || r.Selector.readsJSON() || r.With.readJSON() ||
		r.Paginate != nil && r.Paginate.While.readsJSON() {
		return []string{"json"}
	}
	return nil
}

// readsJSON reports whether a selector is applied to the document as JSON.
func (s *Selector) readsJSON() bool {
	return s != nil && s.JQ != "" && s.CSS == "" && s.XPath == "" && s.JSONLD == "" && s.Meta == ""
}

func (e *Each) readsJSON() bool { return e != nil && e.Selector.readsJSON() }

func (c *Condition) readsJSON() bool {
	if c == nil {
		return false
	}
	return c.Selector.readsJSON() || c.Not.readsJSON() ||
		slices.ContainsFunc(c.Any, func(o Condition) bool { return o.readsJSON() })
}

func (fs Fields) readJSON() bool {
	return slices.ContainsFunc(fs, func(f NamedField) bool { return f.From == "" && f.Value == nil && f.Selector.readsJSON() })
}

// IsMediaRange reports whether t is a media type or a range of them, without parameters, as in
// "text/html" and "image/*".
func IsMediaRange(t string) bool {
	kind, sub, ok := strings.Cut(t, "/")
	return ok && kind != "" && sub != "" && !strings.ContainsAny(t, "; ,\r\n")
}

// InMediaRanges reports whether a media type without parameters is in one of the ranges, such as
// "text/html", "image/*" and "*/*".
func InMediaRanges(ranges []string, t string) bool {
	for _, want := range ranges {
		prefix, wild := strings.CutSuffix(want, "*")
		switch {
		case want == "*/*", strings.EqualFold(want, t):
			return true
		case wild && len(t) > len(prefix) && strings.EqualFold(t[:len(prefix)], prefix):
			return true
		}
	}
	return false
}

func (c specCheck) checkAccept(p *Problems) {
	for i, t := range c.Accept {
		if documentMedia[t] == nil && !IsMediaRange(t) {
			p.Addf(fmt.Sprintf("accept[%d]", i), "%q: must be a type of document, such as pdf or office, or a media type without parameters, such as text/calendar or image/*", messages.Clip(t))
		}
	}
}
