package structured

import (
	stdhtml "html"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"seine/internal/base/dates"
	"seine/internal/page/dom"
)

// Declared is who wrote a page and when, as far as the page declares it.
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
	body := newVisible(root)
	metas := make(map[string][]string, len(d.Meta))
	for _, p := range d.Meta {
		name := strings.Map(lettersOnly, p.Name)
		metas[name] = append(metas[name], p.Content)
	}
	sources := []factProvider{
		mostSpecific(linkedItems(Objects(d.JSONLD))),
		metaSource{metas, openGraphDeclared},
		mostSpecific(d.Microdata),
		mostSpecific(d.RDFa),
		metaSource{metas, namedDeclared},
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

// names cleans names and leaves out what is no name: URLs, and sentences.
func names(raw []string) []string {
	var out []string
	for _, s := range raw {
		s = dom.Fold(stdhtml.UnescapeString(s))
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

// normalDate returns a date or time in the form of RFC 3339: a full-date where
// there is no time or no offset, and otherwise a date-time with the offset as
// written. It is empty where the text is not a date with one meaning, or where it is a
// default of software: the year 1, or before there were calendars to declare it in.
func normalDate(s string) string {
	d, ok := dates.Parse(dom.Fold(s), time.UTC)
	if !ok || d.Time.Year() < 1000 {
		return ""
	}
	d.Clock = d.Clock && d.Zoned
	return d.String()
}

// metaNames says which names answer what, in order. A name is in small letters, without
// what separates its words: publish-date, publish_date and publishDate are one.
type metaNames [3][]string

var (
	openGraphDeclared = metaNames{
		author:    {"articleauthor", "ogarticleauthor"},
		published: {"articlepublishedtime", "ogarticlepublishedtime", "ogpublishedtime", "articlepublished", "ogpubdate", "ogpublishdate", "ogpublisheddate", "articlepublishdate", "articlepubdate", "articlepublisheddate"},
		modified:  {"articlemodifiedtime", "ogarticlemodifiedtime", "ogupdatedtime", "articlemodified", "ogmodifiedtime", "articleupdatedtime", "articlemodifieddate"},
	}
	namedDeclared = metaNames{
		author: {
			"author", "dctermscreator", "dccreator", "citationauthor",
			"parselyauthor", "sailthruauthor",
		},
		published: {
			"dctermsissued", "dcdateissued", "dctermsdate", "dcdate", "dctermscreated", "dcdatecreated",
			"citationpublicationdate", "citationonlinedate", "citationdate", "bepresscitationdate", "prismpublicationdate", "eprintsdate", "schemadatepublished",
			"datepublished", "publisheddate", "datepublication", "date", "pubdate", "pubtime", "publishdate", "publishtime", "publishedtime", "publisheddatetime",
			"publicationdate", "publicationtime", "publicationdatetime", "publishedat", "publishedon", "published", "parselypubdate", "sailthrudate",
			"rnewsdatepublished", "originalpublicationdate", "articledateoriginal", "articlepublicationdate", "articlecreated", "articlepostdate", "articledate", "cxenseparserecspublishtime", "btpubdate", "rbpubdate", "vrpublishedtime", "isopublishdate", "analyticsattributesarticledate",
			"mediatorpublishedtime", "shareaholicarticlepublishedtime", "weiboarticlecreateat", "firstpublished", "datefirstpublished", "dateposted", "postdate", "posteddate",
			"uploaddate", "issuedate", "releasedate", "displaydate", "pdate", "datecreated", "created", "createddate", "creationdate", "contentcreated",
		},
		modified: {
			"dctermsmodified", "dcdatemodified", "lastmodified", "revised", "datemodified", "modifieddate", "rnewsdatemodified", "lastmod", "modified", "modificationdate",
			"dateupdated", "updateddate", "updatedtime", "updated", "lastupdated", "lastupdate", "revisiondate", "cxenseparserecsmodifiedtime",
		},
	}
)

// metaSource answers from meta elements.
type metaSource struct {
	meta  map[string][]string // by such a name
	names metaNames
}

func (s metaSource) declared(f fact) []string {
	for _, name := range s.names[f] {
		if contents := s.meta[name]; contents != nil && s.usable(f, contents) {
			return contents
		}
	}
	return nil
}

func lettersOnly(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r
	}
	return -1
}

// usable reports whether contents answer: article:author is often a profile's
// URL, beside an author element with the name.
func (s metaSource) usable(f fact, contents []string) bool {
	if f == author {
		return len(names(contents)) > 0
	}
	return firstDate(contents) != ""
}
