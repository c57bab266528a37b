package fetcher

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/maypok86/otter/v2"

	"seine/internal/base/weburl"
	"seine/internal/page/htmlpage"
	"seine/pkg/crawlspec"
)

// autoRender decides, where the spec says "render: auto", which pages are shown in a browser. A page that has hardly any text and a
// script is one that scripts make (an empty shell). Of others, samples are shown: the first ones of each template of paths on a
// host, and fewer and fewer of those that follow. A template whose last sample has shown more than its document is rendered, until a
// later page shows no more. Failures change nothing. The results of samples are only in memory, so a restarted process takes
// new samples.
type autoRender struct {
	templates *otter.Cache[string, *templateYield]
}

// templateYield is what is known of the pages of a template.
type templateYield struct {
	mu      sync.Mutex
	seen    int  // pages
	next    int  // the page that is the next sample, from 1
	renders bool // the last sample has shown more
}

const (
	maxTemplates = 1 << 16 // about 200 bytes each
	firstSamples = 2       // of each template
	sampleFactor = 10      // as many pages later is the next one
	// shellText is the text that an empty shell may have, in characters: a title, "Loading…", a notice about cookies.
	shellText = 200
)

func newAutoRender() (*autoRender, error) {
	templates, err := otter.New(&otter.Options[string, *templateYield]{MaximumSize: maxTemplates})
	if err != nil {
		return nil, fmt.Errorf("make the cache of templates: %w", err)
	}
	return &autoRender{templates}, nil
}

// renderPlan is why a page is shown in a browser, or why not, and what its document has.
type renderPlan struct {
	why      string
	whyNot   string
	template *templateYield // nil if there is nothing to learn
	document pageYield
}

// pageYield is what a reader and a crawler get of a document.
type pageYield struct{ text, links int }

// plan decides on a page.
func (a *autoRender) plan(mode crawlspec.RenderMode, t *fetchJob, body []byte) renderPlan {
	if mode == crawlspec.RenderAlways {
		return renderPlan{why: "the spec wants all pages rendered"}
	}
	if !hasScript(body) {
		return renderPlan{whyNot: "the document has no script"}
	}
	document := yieldOf(body, t.req.URL, t.reply.ContentType)
	if document.text < shellText {
		return renderPlan{why: fmt.Sprintf("the document is an empty shell: %d characters of text", document.text), document: document}
	}
	template := pathTemplate(t.req.URL)
	key := t.req.Crawl + " " + weburl.Host(t.req.URL) + template
	y, _ := a.templates.ComputeIfAbsent(key, func() (*templateYield, bool) { return &templateYield{next: 1}, false })
	if why := y.turn(template); why != "" {
		return renderPlan{why: why, template: y, document: document}
	}
	return renderPlan{whyNot: "the last sample shows no more in a browser, of pages like " + template}
}

// turn counts a page, and says why it is shown.
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

// learn compares what the browser shows with the document.
func (a *autoRender) learn(plan renderPlan, t *fetchJob, shown []byte) {
	if plan.template == nil {
		return
	}
	now := yieldOf(shown, t.req.URL, renderedType)
	plan.template.mu.Lock()
	defer plan.template.mu.Unlock()
	plan.template.renders = now.more(plan.document)
}

// more reports whether a page has so much more than another that it is worth a browser: a tenth more text, at least 200 characters,
// or a tenth more links, at least three.
func (y pageYield) more(than pageYield) bool {
	return y.text-than.text >= max(200, than.text/10) || y.links-than.links >= max(3, than.links/10)
}

func yieldOf(body []byte, url, contentType string) pageYield {
	page, err := htmlpage.Scan(body, url, contentType, htmlpage.Options{})
	if err != nil {
		return pageYield{}
	}
	return pageYield{utf8.RuneCountInString(page.Text), len(page.Links)}
}

// hasScript reports whether a document has a script, or refers to one.
func hasScript(body []byte) bool {
	for rest := body; ; {
		_, after, found := bytes.Cut(rest, []byte("<"))
		if !found {
			return false
		}
		if len(after) >= 6 && strings.EqualFold(string(after[:6]), "script") && !isData(after) {
			return true
		}
		rest = after
	}
}

// isData reports whether a script is of data, as structured data are.
func isData(tag []byte) bool {
	tag, _, _ = bytes.Cut(tag, []byte(">"))
	return bytes.Contains(tag, []byte("application/ld+json")) || bytes.Contains(tag, []byte("application/json"))
}

// pathTemplate returns the shape of a URL's path: what differs from page to page, such as numbers, dates and long names, is "*".
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

// maxSegment is how long a part of a path may be that is no name of a page.
const maxSegment = 24
