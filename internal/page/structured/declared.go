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

// Declared has the authors and dates that a page declares.
type Declared struct {
	// Author is the names of the authors, separated by "; ", as names have commas. Authors has them
	// as a list.
	Author  string
	Authors []string
	// Published and Modified are in the form of RFC 3339: a date-time or, if the page gives no time
	// or no offset, a full-date. They are empty if the page declares no date, or none with a single
	// meaning.
	Published, Modified string
}

// The sources for author, published and modified. For each of them, the first source that has an
// answer counts:
//
//  1. JSON-LD;
//  2. meta elements of Open Graph: article:author, article:published_time, …;
//  3. microdata, then RDFa;
//  4. other meta elements: author, date, those of Dublin Core, of Highwire Press (citation_…)
//     and of some analytics;
//  5. the page itself: a link with rel=author, a time element.
//
// In 1 and 3 the page's article counts; otherwise a video, recipe and so on; otherwise the page
// itself. If there are several of the same rank, as in a list, they must agree.

// declared collects the values of each source.
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

// fact is a kind of information.
type fact int

const (
	author fact = iota
	published
	modified
)

// factProvider is a source. It returns its values for a fact, as written.
type factProvider interface {
	declared(fact) []string
}

// names cleans names and drops URLs and sentences.
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

// firstDate returns the first valid date.
func firstDate(raw []string) string {
	for _, s := range raw {
		if d := normalDate(s); d != "" {
			return d
		}
	}
	return ""
}

// normalDate returns a date or time in the form of RFC 3339: a full-date if there is no time or no
// offset, otherwise a date-time with the offset as written. It returns "" if the text is not a date
// with a single meaning, or is a software default: the year 1, or any year before 1000.
func normalDate(s string) string {
	d, ok := dates.Parse(dom.Fold(s), time.UTC)
	if !ok || d.Time.Year() < 1000 {
		return ""
	}
	d.Clock = d.Clock && d.Zoned
	return d.String()
}

// metaNames are the names for each fact, in order. A name is in lower case, without the separators
// of its words: publish-date, publish_date and publishDate are one.
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

// metaSource returns facts from meta elements.
type metaSource struct {
	meta  map[string][]string // by name in the form of metaNames
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

// usable reports whether contents answer a fact: article:author is often a profile's URL, beside an
// author element with the name.
func (s metaSource) usable(f fact, contents []string) bool {
	if f == author {
		return len(names(contents)) > 0
	}
	return firstDate(contents) != ""
}
