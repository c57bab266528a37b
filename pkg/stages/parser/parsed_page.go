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

// parsedPage is what was read of a page. The same page and plan give the same.
type parsedPage struct {
	page *messages.Page
	plan *parsePlan
	rev  uint64 // of the spec that plan is of
	doc  *document.Document
	// scanned is what the readers found, links apart; by whatever reader, it is as if
	// it were of an HTML page.
	scanned htmlpage.Page
	// follow are the links that lead on, each URL once.
	follow []discoveredLink
	// noRecord says that there is no record of the page itself, as of a sitemap.
	noRecord bool
	// unchanged says that the page has no records since it is as it was at the visit before.
	unchanged bool
	// noPage says that a condition of the spec keeps the page from having one.
	noPage bool
	// leftOut says by which condition the page has no record, as messages.Candidates has it.
	leftOut string
	// warning says what could not be read of a sitemap or a feed.
	warning  string
	records  []ownRecord       // of rules and extractors
	problems []extract.Problem // records that could not be made
	byRules  extract.Result    // what the spec's rules made

	duplicateOf messages.Visit // the page that this one repeats, if the crawl marks duplicates

	// Made when they are first asked for.
	data *structured.Data
	md   *string // Markdown of the main content
	hash *uint64
	// detected is the language of the text.
	detected *string

	file *convert.Result // what was made of a PDF or an office file

	treeless bool // already logged that there is no tree
}

// discoveredLink is a URL to be followed, and its distance from a seed.
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

// mayFollow reports whether the page lets its links be followed, or is not asked.
func (r *parsedPage) mayFollow() bool { return !r.plan.respectNofollow || !r.scanned.NoFollow }

// newDocument is the page for those who select from it.
func newDocument(page *messages.Page, body []byte, content article.Options) *document.Document {
	header := page.Header
	if v := header[contentType]; page.ContentType != "" && (len(v) != 1 || v[0] != page.ContentType) {
		// The field was left out, or says nothing and the fetcher has looked, or came
		// more than once.
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
		return nil // its type is all that is known
	}
}

// readFile reads the page that is made of a PDF or an office file.
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

// readHTML takes what one pass over the page finds.
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

// headerDirectives reads X-Robots-Tag, by the time of the fetch: a page that is
// parsed again gives the same record.
func (r *parsedPage) headerDirectives() robots.Directives {
	return robots.HeaderDirectives(r.header("X-Robots-Tag"), r.plan.spec.ProductToken(), r.page.FetchedAt)
}

// addHeaderLinks adds the links of the response's Link and Refresh headers, if they are
// wanted. A document of any type has them: APIs lead to their next page so.
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

// hideSecrets takes from the URLs that the record has what only the fetcher may know.
// Those that are followed are normalised by the same rules.
func (r *parsedPage) hideSecrets() {
	if r.plan.secret == nil {
		return
	}
	r.scanned.Canonical = r.plan.secret.Normalize(r.scanned.Canonical)
	for i := range r.scanned.Links {
		r.scanned.Links[i].URL = r.plan.secret.Normalize(r.scanned.Links[i].URL)
	}
}

// Bounds of what feeds and extractors say, which is as those of htmlpage are.
const (
	maxField    = 8 << 10 // bytes of a title, a description and the like
	maxLanguage = 64
)

// bound cuts what was found to what a record may have, by whatever reader, and
// takes the language that the header declares if the document declares none.
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

// headerLanguage is the language of a Content-Language header. A list of them says
// for whom the document is, not what it is in (HTML section 3.2.6.2).
func (r *parsedPage) headerLanguage() string {
	tags := r.header("Content-Language")
	if len(tags) != 1 || strings.Contains(tags[0], ",") {
		return ""
	}
	return strings.TrimSpace(tags[0])
}

// header returns the values of a field. HTTP/2 has names in lower case, and a
// fetcher of another make may leave them so.
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

// readFeed takes what a feed says of itself, the titles of its items, and follows
// the items.
func (r *parsedPage) readFeed(body []byte) error {
	f, err := feed.Parse(body, r.page.ContentType, r.page.URL)
	if f == nil { // of one that breaks off, what came before counts
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
	r.noRecord = r.page.Sitemap // as of any sitemap
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

// linkCollector collects URLs to follow, each once and without the page's own, as what
// they are taken for. Their distance from a seed is depth.
type linkCollector struct {
	urls  *weburl.Normalizer
	seen  map[string]bool
	depth int
	// sitemaps says that they are known for sitemaps.
	sitemaps bool
	links    []discoveredLink
}

// newLinkCollector returns one for URLs that are a link away.
func (r *parsedPage) newLinkCollector() *linkCollector {
	return &linkCollector{urls: r.plan.urls, seen: map[string]bool{r.page.URL: true}, depth: r.page.Depth + 1}
}

// add takes a canonical URL, or "" for none.
func (c *linkCollector) add(url string, priority *int) {
	if url == "" {
		return
	}
	if url = c.urls.Normalize(url); !c.seen[url] {
		c.seen[url] = true
		c.links = append(c.links, discoveredLink{messages.Candidate{URL: url, Priority: priority, Sitemap: c.sitemaps}, c.depth})
	}
}

// dom is the page's tree, nil if it has none. A page of which none can be made is
// told: what the spec wants of it is missing.
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

// structured is what the page says for machines, empty if that is nothing.
func (r *parsedPage) structured() *structured.Data {
	if r.data == nil {
		r.data = new(structured.Data)
		if root := r.dom(); root != nil {
			r.data = structured.FromHTML(root, r.doc.BaseURL())
		}
	}
	return r.data
}
