package structured

import (
	stdhtml "html"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Declared is who wrote a page and when, as far as it says so itself.
type Declared struct {
	// Author is the authors' names, with "; " between, as names have commas;
	// Authors has them one by one.
	Author  string
	Authors []string
	// Published and Modified are in the form of RFC 3339, a date-time or, where
	// the page gives no time or no offset for it, a full-date. They are empty
	// where the page says nothing or nothing that has one meaning.
	Published, Modified string
}

// The sources, of which the first that has an answer gives it, for each of
// author, published and modified:
//
//  1. JSON-LD;
//  2. meta elements of Open Graph: article:author, article:published_time, …;
//  3. microdata, then RDFa;
//  4. other meta elements: author, date, those of Dublin Core, of Highwire
//     Press (citation_…) and of some analytics;
//  5. the page itself: a link with rel=author, a time element.
//
// In 1 and 3 what counts is the page's article; else a video, recipe and so on;
// else the page as such. Where there are several of the same rank, as in a list,
// they must agree.

// declared collects what each source says.
func declared(d *Data, root *html.Node) Declared {
	ld := newLinkedData(Objects(d.JSONLD))
	body := newVisible(root)
	sources := []factProvider{
		mostSpecific(ld.entities()),
		metaSource{d.Meta, openGraphDeclared},
		mostSpecific(itemEntities(d.Microdata)),
		mostSpecific(itemEntities(d.RDFa)),
		metaSource{d.Meta, namedDeclared},
		body,
	}
	var out Declared
	for _, s := range sources {
		if len(out.Authors) == 0 {
			out.Authors = names(s.declared(author))
		}
		if out.Published == "" {
			out.Published = firstDate(s.declared(published))
		}
		if out.Modified == "" {
			out.Modified = firstDate(s.declared(modified))
		}
	}
	out.Author = strings.Join(out.Authors, "; ")
	return out
}

// fact is what is asked for.
type fact int

const (
	author fact = iota
	published
	modified
)

// A source answers with what it has, as written.
type factProvider interface {
	declared(fact) []string
}

// names cleans names and leaves out what is none: URLs, and sentences.
func names(raw []string) []string {
	var out []string
	for _, s := range raw {
		s = fold(stdhtml.UnescapeString(s))
		isURL := strings.Contains(s, "://") || strings.HasPrefix(s, "//") || strings.HasPrefix(s, "www.")
		if s == "" || len(s) > maxName || isURL || slices.Contains(out, s) {
			continue
		}
		if out = append(out, s); len(out) == maxAuthors {
			break
		}
	}
	return out
}

// firstDate returns the first that is a date.
func firstDate(raw []string) string {
	for _, s := range raw {
		if d := normalDate(s); d != "" {
			return d
		}
	}
	return ""
}

// metaNames says which names answer what, in order.
type metaNames [3][]string

var (
	openGraphDeclared = metaNames{
		author:    {"article:author", "og:article:author"},
		published: {"article:published_time", "og:article:published_time", "og:published_time", "article:published"},
		modified:  {"article:modified_time", "og:article:modified_time", "og:updated_time", "article:modified"},
	}
	namedDeclared = metaNames{
		author: {
			"author", "dcterms.creator", "dc.creator", "dc:creator", "citation_author",
			"parsely-author", "sailthru.author",
		},
		published: {
			"dcterms.issued", "dc.date.issued", "dcterms.date", "dc.date", "dc:date", "dcterms.created", "dc.date.created",
			"citation_publication_date", "citation_online_date", "citation_date",
			"date", "pubdate", "publish-date", "publish_date", "publication_date", "parsely-pub-date", "sailthru.date",
		},
		modified: {"dcterms.modified", "dc.date.modified", "last-modified", "revised"},
	}
)

// metaSource answers from meta elements.
type metaSource struct {
	meta  Meta
	names metaNames
}

func (s metaSource) declared(f fact) []string {
	for _, name := range s.names[f] {
		if contents := s.meta.Get(name); len(contents) > 0 && s.usable(f, contents) {
			return contents
		}
	}
	return nil
}

// usable reports whether contents answer: article:author is often a profile's
// URL, beside an author element with the name.
func (s metaSource) usable(f fact, contents []string) bool {
	if f == author {
		return len(names(contents)) > 0
	}
	return firstDate(contents) != ""
}
