package fetcher

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"seine/internal/base/recent"
	"seine/internal/base/weburl"
	"seine/internal/page/document"
	"seine/internal/page/extract"
	"seine/internal/page/htmlpage"
	"seine/pkg/crawlspec"
	"seine/pkg/stages"
)

// autoRender decides which pages are rendered in a browser if the spec has "render: auto". A page
// with a script and hardly any text is an empty shell, which its scripts fill. Of other pages,
// samples are rendered: the first ones of each template of paths on a host, and fewer and fewer of
// the later ones. If the last sample of a template shows more than its document, to a reader or to
// the rules of the spec, its pages are rendered, until a later page shows no more. Failures change
// nothing. The results of samples are only in memory, so a restarted process takes new samples.
type autoRender struct {
	templates recent.Cache[string, *templateYield]
	rules     stages.SpecCache[*extract.Rules] // nil if the spec has no valid rules
}

// templateYield is the state of a template.
type templateYield struct {
	mu      sync.Mutex
	seen    int  // pages
	next    int  // number of the next page to sample, from 1
	renders bool // the last sample showed more
}

const (
	maxTemplates = 1 << 15 // about 200 bytes each
	firstSamples = 2       // per template
	sampleFactor = 10      // a sample is followed by one at this multiple of the page count
	// shellText is the maximum text of an empty shell, in characters: a title, "Loading…", a cookie
	// notice.
	shellText = 200
)

func newAutoRender() *autoRender {
	compile := func(spec *crawlspec.Spec) *extract.Rules {
		rules, err := extract.Compile(spec)
		if err != nil || rules.Empty() { // the parser reports the error
			return nil
		}
		return rules
	}
	return &autoRender{templates: recent.Cache[string, *templateYield]{Most: maxTemplates}, rules: stages.SpecCache[*extract.Rules]{Make: compile}}
}

// renderPlan is why a page is rendered, or why not, and the yield of its document.
type renderPlan struct {
	why      string
	whyNot   string
	template *templateYield // nil if rendering teaches nothing
	document pageYield
}

// pageYield is the content, links and extracted fields of a document.
type pageYield struct {
	text, links int
	found       map[string]int // see extract.Result.Found
}

// plan decides whether to render a page.
func (a *autoRender) plan(ctx context.Context, mode crawlspec.RenderMode, t *fetchJob, body []byte) renderPlan {
	if mode == crawlspec.RenderAlways {
		return renderPlan{why: "the spec wants all pages rendered"}
	}
	if !htmlpage.HasScript(body) {
		return renderPlan{whyNot: "the document has no script"}
	}
	received := yieldOf(body, t.req.URL, t.reply.ContentType)
	if received.text < shellText {
		return renderPlan{why: fmt.Sprintf("the document is an empty shell: %d characters of text", received.text), document: received}
	}
	template := pathTemplate(t.req.URL)
	key := t.req.Crawl + " " + weburl.Host(t.req.URL) + template
	y := a.templates.GetOrPut(key, func() *templateYield { return &templateYield{next: 1} })
	if why := y.turn(template); why != "" {
		received.found = a.find(ctx, t, body, t.reply.ContentType)
		return renderPlan{why: why, template: y, document: received}
	}
	return renderPlan{whyNot: "the last sample shows no more in a browser, of pages like " + template}
}

// turn counts a page, and returns why it is rendered, "" if it is not.
func (y *templateYield) turn(template string) string {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.seen++
	switch {
	case y.renders:
		return "pages like " + template + " show more in a browser"
	case y.seen < y.next:
		return ""
	case y.seen < firstSamples:
		y.next = y.seen + 1
	default:
		y.next = sampleFactor * y.seen
	}
	return "a sample of pages like " + template
}

// learn compares the rendered page with the document.
func (a *autoRender) learn(ctx context.Context, plan renderPlan, t *fetchJob, shown []byte) {
	if plan.template == nil {
		return
	}
	now := yieldOf(shown, t.req.URL, renderedType)
	now.found = a.find(ctx, t, shown, renderedType)
	plan.template.mu.Lock()
	defer plan.template.mu.Unlock()
	plan.template.renders = now.more(plan.document)
}

// more reports whether y has enough more than another page to be worth a browser: a tenth more
// text, at least 200 characters; a tenth more links, at least three; or more records with some
// field, or links of a follow rule that found none.
func (y pageYield) more(than pageYield) bool {
	for name, n := range y.found {
		if n > than.found[name] {
			return true
		}
	}
	return y.text-than.text >= max(200, than.text/10) || y.links-than.links >= max(3, than.links/10)
}

// find applies the rules of the spec to a document. It returns nil if ctx is done.
func (a *autoRender) find(ctx context.Context, t *fetchJob, body []byte, contentType string) map[string]int {
	if t.spec.Spec == nil {
		return nil
	}
	rules := a.rules.Get(t.req.Crawl, t.spec.Spec)
	if rules == nil {
		return nil
	}
	header := map[string][]string{"Content-Type": {contentType}}
	result, err := rules.Apply(ctx, document.New(document.Source{
		URL: t.req.URL, Status: t.reply.Status, Header: header, Body: body, Content: extract.ContentOptions(&t.spec.Spec.Content),
	}))
	if err != nil {
		return nil
	}
	return result.Found()
}

func yieldOf(body []byte, url, contentType string) pageYield {
	page, err := htmlpage.Scan(body, url, contentType, htmlpage.Options{})
	if err != nil {
		return pageYield{}
	}
	return pageYield{text: utf8.RuneCountInString(page.Text), links: len(page.Links)}
}

// pathTemplate returns the shape of a URL's path: parts that differ from page to page, such as
// numbers, dates and long names, become "*".
func pathTemplate(url string) string {
	path, _, _ := strings.Cut(weburl.Path(url), "?")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		last := i == len(parts)-1 && i > 1
		if last && part != "" || strings.ContainsAny(part, "0123456789") || len(part) > maxSegment {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// maxSegment is the maximum length of a fixed part of a path.
const maxSegment = 24
