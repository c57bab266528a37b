package structured

import (
	"strings"
	"testing"
)

func TestDeclared(t *testing.T) {
	ld := func(s string) string { return `<script type=application/ld+json>` + s + `</script>` }
	const og = `<meta property=article:published_time content=2001-01-02>`
	for _, c := range []struct{ name, page, author, published, modified string }{
		{"nothing", `<p>`, "", "", ""},
		{"JSON-LD before Open Graph", og + ld(`{"@type":"Article","datePublished":"2001-01-01"}`), "", "2001-01-01", ""},
		{"Open Graph where JSON-LD is no date", og + ld(`{"@type":"Article","datePublished":"soon"}`), "", "2001-01-02", ""},
		{"Open Graph before microdata",
			og + `<div itemscope itemtype="http://schema.org/Article"><meta itemprop=datePublished content=2001-01-03>`, "", "2001-01-02", ""},
		{"microdata before RDFa", `<div vocab="http://schema.org/" typeof=Article><meta property=datePublished content=2001-01-04></div>
<div itemscope itemtype="http://schema.org/Article"><meta itemprop=datePublished content=2001-01-03></div>`, "", "2001-01-03", ""},
		{"RDFa before other meta", `<meta name=date content=2001-01-05>
<div vocab="http://schema.org/" typeof=Article><meta property=datePublished content=2001-01-04></div>`, "", "2001-01-04", ""},
		{"other meta before time", `<meta name=date content=2001-01-05><article><time pubdate>2001-01-06</time></article>`, "", "2001-01-05", ""},
		{"each by itself", ld(`{"@type":"Article","author":"A"}`) + og + `<meta name=dcterms.modified content=2001-01-07>`, "A", "2001-01-02", "2001-01-07"},
		{"article before page", ld(`[{"@type":"WebPage","datePublished":"2001-01-01"},{"@type":"Article","datePublished":"2001-01-02"}]`), "", "2001-01-02", ""},
		{"articles that agree", ld(`[{"@type":"Article","author":"A"},{"@type":"Article","author":{"name":"A"}}]`), "A", "", ""},
		{"articles that do not", ld(`[{"@type":"Article","author":"A"},{"@type":"Article","author":"B"}]`), "", "", ""},
		{"no creative work", ld(`{"@type":"Review","author":"A","datePublished":"2001-01-01"}`), "", "", ""},
		{"a book is not its page", ld(`{"@type":"Book","author":"A","datePublished":"1901-01-01"}`), "", "", ""},
		{"main entity", ld(`{"@type":"QAPage","mainEntity":{"@type":"Question","author":{"name":"A"}}}`), "A", "", ""},
		{"odd values", ld(`{"@type":["Article",1,null],"author":[null,1,{"name":["A",2]},{"@id":5},["x"]],"datePublished":20010101}`), "1; A", "2001-01-01", ""},
		{"author by its own reference", ld(`{"@type":"Article","@id":"a","author":{"@id":"a"}}`), "", "", ""},
		{"names cleaned", ld(`{"@type":"Article","author":["  A &amp;\n B ","https://x.example","www.x.example","A & B",""]}`), "A & B", "", ""},
		{"author's address", `<meta property=article:author content="https://x.example/a"><meta name=author content=A>`, "A", "", ""},
		{"time with a class", `<time class="entry-date published" datetime="2001-01-01T00:00:00Z"></time><time class=updated>2001-01-02</time>`,
			"", "2001-01-01T00:00:00Z", "2001-01-02"},
		{"name in a scope", `<html itemscope itemtype="https://schema.org/WebPage"><meta name=pubdate content=2001-01-01>`, "", "2001-01-01", ""},
		{"time with a property", `<time itemprop=dateModified>2001-01-02</time><time itemprop=datePublished>2001-01-01</time>`, "", "2001-01-01", "2001-01-02"},
		{"a property of another element", `<span itemprop=datePublished content=2001-01-01>New Year</span><p itemprop=dateModified>2001-01-02</p>`, "", "2001-01-01", "2001-01-02"},
		{"a class of an abbreviation", `<abbr class=published title=2001-01-01>New Year</abbr><abbr title=2001-01-03>x</abbr>`, "", "2001-01-01", ""},
		{"a title of a time", `<time class=published title="in Berlin">2001-01-01</time>`, "", "2001-01-01", ""},
		{"a property of a thing", `<div itemscope><span itemprop=datePublished>2001-01-01</span></div><p class=published>2001-01-01</p>`, "", "", ""},
		{"time of unknown meaning", `<time>2001-01-01</time>`, "", "", ""},
		{"first date of the article", `<article><time>now</time><time>2001-01-01</time><time>2001-01-02</time></article>`, "", "2001-01-01", ""},
		{"several authors without an article", `<a rel=author>A</a><a rel=author>B</a>`, "", "", ""},
		{"one author, twice", `<a rel="AUTHOR me">A</a><a rel=author>A</a>`, "A", "", ""},
		{"two articles", `<article><a rel=author>A</a><time pubdate>2001-01-01</time></article><article></article>`, "", "", ""},
	} {
		d := FromHTML(parse(t, c.page), testBase)
		if d.Author != c.author || d.Published != c.published || d.Modified != c.modified {
			t.Errorf("%s: %q %q %q, want %q %q %q", c.name, d.Author, d.Published, d.Modified, c.author, c.published, c.modified)
		}
	}
}

// The common names of a date of publication, and of a change.
func TestDatesOfCommonMetaNames(t *testing.T) {
	const date = "2015-06-09T17:02:00Z"
	for attributes, want := range map[string]string{
		`property rnews:datePublished|property article:published_time|name OriginalPublicationDate|itemprop datePublished|itemprop dateCreated|property og:published_time|name article_date_original|name publication_date|
		name sailthru.date|name PublishDate|name publish_date|name publish-date|name pubdate|name pub_date|name date|name DC.date.issued|name dcterms.created|name datePublished|name date_published|name published_date|name published-date|
		name article.published|name article.created|name cXenseParse:recs:publishtime|property og:pubdate|name bt:pubDate|name parsely-pub-date|name citation_publication_date|name created|name creation_date|name mediator_published_time|
		name prism.publicationDate|name vr:published_time|name rbpubdate|name iso-8601-publish-date|name eprints.date|name bepress_citation_date|property schema:datePublished|name release_date|name displaydate|property article:publish_date|itemprop uploadDate|name published-at`: "published",
		`property article:modified_time|itemprop dateModified|name dateModified|name last-modified|name lastmod|property og:updated_time|name DC.date.modified|name updated_time|property rnews:dateModified|name last_updated`: "modified",
	} {
		for a := range strings.SplitSeq(attributes, "|") {
			key, name, _ := strings.Cut(strings.TrimSpace(a), " ")
			d := FromHTML(parse(t, "<meta "+key+"="+name+" content="+date+"><p>"), testBase)
			if got := map[string]string{"published": d.Published, "modified": d.Modified}; got[want] != date {
				t.Errorf("%s: %v", a, got)
			}
		}
	}
}

// A date of a thing on the page is not that of the page.
func TestDatesOfOtherThings(t *testing.T) {
	for _, page := range []string{
		`<div itemscope itemtype="https://schema.org/Book"><meta itemprop=datePublished content=1901-01-01></div>`,
		`<div vocab="https://schema.org/" typeof=Book><meta property=datePublished content=1901-01-01></div>`,
		`<meta name=expires content=2030-01-01><meta name=birthdate content=1950-01-01>`,
	} {
		if d := FromHTML(parse(t, page), testBase); d.Published != "" {
			t.Errorf("%s: %q", page, d.Published)
		}
	}
}
