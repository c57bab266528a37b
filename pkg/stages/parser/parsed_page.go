package parser

import (
	"context"
	"errors"
	"maps"
	"strings"

	"golang.org/x/net/html"

	"seine/internal/base/truncate"
	"seine/internal/base/weburl"
	"seine/internal/fetch/robots"
	"seine/internal/page/article"
	"seine/internal/page/chunk"
	"seine/internal/page/convert"
	"seine/internal/page/document"
	"seine/internal/page/extract"
	"seine/internal/page/feed"
	"seine/internal/page/htmlpage"
	"seine/internal/page/mediatype"
	"seine/internal/page/structured"
	"seine/pkg/messages"
)

// parsedPage is the result of reading a page. It depends only on the page and the plan.
type parsedPage struct {
	page *messages.Page
	plan *parsePlan
	rev  uint64 // revision of the plan's spec
	doc  *document.Document
	// scanned is the result of the reader, without links. Every reader fills it as if the document
	// were an HTML page.
	scanned htmlpage.Page
	// follow are the links to follow, each URL once.
	follow []discoveredLink
	// noRecord means that the page itself has no record, as for a sitemap.
	noRecord bool
	// unchanged means that the page has no records because it is unchanged since the previous
	// visit.
	unchanged bool
	// noPage means that a condition of the spec excludes the record of the page.
	noPage bool
	// leftOut is the condition for which the page has no record, as in messages.Candidates.
	leftOut string
	// warning describes the unreadable parts of a sitemap or a feed.
	warning  string
	records  []ownRecord       // of rules and extractors
	problems []extract.Problem // records that could not be made
	byRules  extract.Result    // output of the spec's rules

	duplicateOf messages.Visit // the page that this one repeats, if the crawl marks duplicates

	// Computed on first use.
	data *structured.Data
	md   *string // Markdown of the main content
	hash *uint64
	// detected is the language of the text.
	detected *string

	file *convert.Result // conversion of a PDF or an office file

	treeless bool // the missing tree was already reported
}

// discoveredLink is a URL to follow, and its distance from a seed.
type discoveredLink struct {
	messages.Candidate
	depth int
}

// read reads a page.
func (p *Parser) read(ctx context.Context, page *messages.Page, body []byte, plan *parsePlan) (*parsedPage, error) {
	r := &parsedPage{page: page, plan: plan, doc: newDocument(page, body, plan.content)}
	if err := p.readByType(ctx, r, body); err != nil {
		return nil, err
	}
	if !r.noRecord {
		r.bound()
		r.addHeaderLinks()
		r.hideSecrets()
		r.scanned.Restrict(r.headerDirectives())
	}
	if !r.mayFollow() {
		r.follow = nil
	}
	if plan.rules.Empty() {
		return r, nil
	}
	return r, r.applyRules(ctx)
}

// mayFollow reports whether the page allows its links to be followed, or the spec ignores that.
func (r *parsedPage) mayFollow() bool { return !r.plan.respectNofollow || !r.scanned.NoFollow }

// newDocument returns the page as a document for selectors.
func newDocument(page *messages.Page, body []byte, content article.Options) *document.Document {
	header := page.Header
	if v := header[contentType]; page.ContentType != "" && (len(v) != 1 || v[0] != page.ContentType) {
		// The header lacks the field, the field is undefined and the fetcher has sniffed the type,
		// or it was sent more than once.
		header = maps.Clone(header)
		if header == nil {
			header = make(map[string][]string, 1)
		}
		header[contentType] = []string{page.ContentType}
	}
	return document.New(document.Source{URL: page.URL, Status: page.Status, Header: header, Body: body, Content: content})
}

const contentType = "Content-Type"

func (p *Parser) readByType(ctx context.Context, r *parsedPage, body []byte) error {
	if len(p.extractors) > 0 {
		d := r.document(body)
		if x := p.extractorOf(d); x != nil {
			return r.runExtractor(ctx, x, d)
		}
	}
	switch r.doc.Type.Class {
	case mediatype.HTML:
		return r.readHTML(body)
	case mediatype.PDF, mediatype.Office:
		return readFile(ctx, r, body)
	case mediatype.Sitemap, mediatype.Archive, mediatype.XML:
		return sitemapPage{r}.read(body)
	case mediatype.Feed:
		return r.readFeed(body)
	case mediatype.Text:
		return r.readText(body)
	default:
		return nil // only its type is known
	}
}

// readFile reads the page that is converted from a PDF or an office file.
func readFile(ctx context.Context, r *parsedPage, body []byte) (err error) {
	if r.file, err = convert.HTML(ctx, body); err != nil {
		return err
	}
	r.doc.SetHTML(r.file.HTML)
	r.warning = r.file.Warning
	err = r.readHTML(r.file.HTML)
	r.scanned.Charset = ""
	return err
}

// readHTML reads the page in one pass.
func (r *parsedPage) readHTML(body []byte) error {
	scan := r.plan.scan
	scan.Now, scan.XML = r.page.FetchedAt, r.doc.IsXHTML()
	contentType := r.page.ContentType
	if scan.Numbers = r.file != nil; scan.Numbers {
		contentType = "text/html; charset=utf-8"
	}
	var err error
	if r.scanned, err = htmlpage.Scan(body, r.page.URL, contentType, scan); err != nil {
		return err
	}
	urls := make([]string, 0, len(r.scanned.Links))
	for i := range r.scanned.Links {
		if l := &r.scanned.Links[i]; l.ShouldFollow(r.plan.follow, r.plan.respectNofollow) {
			urls = append(urls, l.URL)
		}
	}
	for _, u := range normalized(urls, r.page.URL, r.plan.urls) {
		r.follow = append(r.follow, discoveredLink{messages.Candidate{URL: u}, r.page.Depth + 1})
	}
	return nil
}

// headerDirectives returns the directives of X-Robots-Tag at the time of the fetch, so that parsing
// the page again yields the same record.
func (r *parsedPage) headerDirectives() robots.Directives {
	return robots.HeaderDirectives(r.header("X-Robots-Tag"), r.plan.spec.ProductToken(), r.page.FetchedAt)
}

// addHeaderLinks adds the links of the response's Link and Refresh headers, if the spec wants them.
// They apply to documents of any type: APIs link to their next page this way.
func (r *parsedPage) addHeaderLinks() {
	if r.scanned.Canonical == "" {
		r.scanned.Canonical = htmlpage.HeaderCanonical(r.header("Link"), r.page.URL)
	}
	var links []htmlpage.Link
	if r.plan.scan.Kinds.Has(htmlpage.KindHeader) {
		links = htmlpage.HeaderLinks(r.header("Link"), r.page.URL)
	}
	if r.plan.scan.Kinds.Has(htmlpage.KindRefresh) {
		links = append(links, htmlpage.RefreshLinks(r.header("Refresh"), r.page.URL)...)
	}
	if len(links) == 0 {
		return
	}
	known := make(map[string]int, len(r.scanned.Links))
	for i := range r.scanned.Links {
		known[r.scanned.Links[i].URL] = i
	}
	to := r.newLinkCollector()
	for _, f := range r.follow {
		to.seen[f.URL] = true
	}
	for _, l := range links {
		if l.ShouldFollow(r.plan.follow, r.plan.respectNofollow) {
			to.add(l.URL, nil)
		}
		if i, ok := known[l.URL]; ok {
			on := &r.scanned.Links[i]
			on.Kinds, on.Unmarked = on.Kinds|l.Kinds, on.Unmarked|l.Unmarked
			on.NoFollow = on.Unmarked == 0
			continue
		}
		r.scanned.Links = append(r.scanned.Links, l)
	}
	r.follow = append(r.follow, to.links...)
}

// hideSecrets removes the parameters with secrets from the URLs in the record. Followed URLs are
// normalized by the same rules.
func (r *parsedPage) hideSecrets() {
	if r.plan.secret == nil {
		return
	}
	r.scanned.Canonical = r.plan.secret.Normalize(r.scanned.Canonical)
	for i := range r.scanned.Links {
		r.scanned.Links[i].URL = r.plan.secret.Normalize(r.scanned.Links[i].URL)
	}
}

// Limits of texts from feeds and extractors, equal to those of htmlpage.
const (
	maxField    = 8 << 10 // bytes of a title, a description and the like
	maxLanguage = 64
)

// bound cuts the results of any reader to the limits of a record, and uses the header's language if
// the document declares none.
func (r *parsedPage) bound() {
	p := &r.scanned
	p.Title, p.Description = truncate.To(p.Title, maxField), truncate.To(p.Description, maxField)
	p.Text = truncate.To(p.Text, r.plan.scan.MaxText)
	if p.Language == "" {
		p.Language = r.headerLanguage()
	}
	if len(p.Language) > maxLanguage {
		p.Language = ""
	}
}

// headerLanguage returns the language of a Content-Language header. A list of languages describes
// the audience, not the language of the document (HTML section 3.2.6.2).
func (r *parsedPage) headerLanguage() string {
	tags := r.header("Content-Language")
	if len(tags) != 1 || strings.Contains(tags[0], ",") {
		return ""
	}
	return strings.TrimSpace(tags[0])
}

// header returns the values of a field. HTTP/2 has names in lower case, and another fetcher may
// keep them so.
func (r *parsedPage) header(name string) []string {
	if v, ok := r.page.Header[name]; ok {
		return v
	}
	for n, v := range r.page.Header {
		if strings.EqualFold(n, name) {
			return v
		}
	}
	return nil
}

// readFeed reads the fields of a feed and the titles of its items, and follows the items.
func (r *parsedPage) readFeed(body []byte) error {
	f, err := feed.Parse(body, r.page.ContentType, r.page.URL)
	if f == nil { // of a truncated feed, the part before the end counts
		if errors.Is(err, feed.ErrNoFeed) {
			return nil
		}
		return err
	}
	r.warning = warning{repairs: f.Repairs, cut: f.Cut, read: len(f.Items), err: err}.String()
	r.scanned = htmlpage.Page{
		Title: f.Title, Description: f.Description, Canonical: f.Link, Language: f.Language, Charset: r.doc.Encoding().Name(),
	}
	titles := make([]string, len(f.Items))
	to := r.newLinkCollector()
	to.add(f.Link, nil)
	for i := range f.Items {
		titles[i] = f.Items[i].Title
		to.add(f.Items[i].URL, nil)
	}
	r.scanned.Text, r.follow = strings.Join(titles, "\n"), to.links
	r.noRecord = r.page.Sitemap // like any sitemap
	return nil
}

func (r *parsedPage) readText(body []byte) error {
	if done, err := (sitemapPage{r}).readText(body); done || err != nil {
		return err
	}
	text, charset, err := htmlpage.Plain(body, r.page.ContentType)
	r.scanned.Text, r.scanned.Charset = text, charset
	if r.doc.Type.Media == "text/markdown" {
		r.scanned.Title = chunk.Title(text)
	}
	return err
}

// linkCollector collects normalized URLs to follow, each once and without the page's own. depth is
// their distance from a seed.
type linkCollector struct {
	urls  *weburl.Normalizer
	seen  map[string]bool
	depth int
	// sitemaps marks them as sitemaps.
	sitemaps bool
	links    []discoveredLink
}

// newLinkCollector returns a collector for URLs that are one link away.
func (r *parsedPage) newLinkCollector() *linkCollector {
	return &linkCollector{urls: r.plan.urls, seen: map[string]bool{r.page.URL: true}, depth: r.page.Depth + 1}
}

// add adds a canonical URL, unless it is "".
func (c *linkCollector) add(url string, priority *int) {
	if url == "" {
		return
	}
	if url = c.urls.Normalize(url); !c.seen[url] {
		c.seen[url] = true
		c.links = append(c.links, discoveredLink{messages.Candidate{URL: url, Priority: priority, Sitemap: c.sitemaps}, c.depth})
	}
}

// dom returns the page's tree, nil if it has none. It reports a tree that could not be built:
// fields that the spec wants are then empty.
func (r *parsedPage) dom() *html.Node {
	root, err := r.doc.Root()
	if err != nil && !errors.Is(err, document.ErrForm) && !r.treeless {
		r.treeless = true
		r.problems = append(r.problems, extract.Problem{Rule: "page", Reason: messages.Clip("fields that need its tree are empty: " + err.Error())})
	}
	if err != nil {
		return nil
	}
	return root
}

// structured returns the page's structured data, which may be empty.
func (r *parsedPage) structured() *structured.Data {
	if r.data == nil {
		r.data = new(structured.Data)
		if root := r.dom(); root != nil {
			r.data = structured.FromHTML(root, r.doc.BaseURL())
		}
	}
	return r.data
}
