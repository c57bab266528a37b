package parser

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"seine/internal/base/weburl"
	"seine/internal/page/article"
	"seine/internal/page/extract"
	"seine/internal/page/htmlpage"
	"seine/internal/page/pii"
	"seine/pkg/crawlspec"
)

// parsePlan is a spec compiled for parsing, once for each revision.
type parsePlan struct {
	spec *crawlspec.Spec
	urls *weburl.Normalizer
	// secret removes the parameters with secrets of request rules from URLs; nil if there are none.
	secret *weburl.Normalizer
	rules  *extract.Rules
	// follow are the kinds of links to follow; respectNofollow is set if nofollow marks count.
	follow          htmlpage.Kinds
	respectNofollow bool
	scan            htmlpage.Options
	// fields are the fields of the page's record; none means the default ones.
	fields []pageField
	// simhash is set if it is needed, for a field or to compare pages.
	simhash bool
	// maxRecord bounds a record in bytes.
	maxRecord   int
	content     article.Options
	mask        *pii.Masking // nil if nothing is masked
	contentless contentless
	err         error // error of the spec's rules, which then cannot be used
}

func newParsePlan(cfg Config, spec *crawlspec.Spec, urls *weburl.Normalizer) *parsePlan {
	p := &parsePlan{spec: spec, urls: urls, secret: spec.SecretNormalizer(), maxRecord: maxRecord}
	p.rules, p.err = extract.Compile(spec)
	if p.err != nil {
		p.err = fmt.Errorf("rules of the spec: %w", p.err)
		return p
	}
	p.content = extract.ContentOptions(&spec.Content)
	p.follow = kindsOf(spec.Links.Follow)
	if len(spec.Links.Attributes) > 0 {
		p.follow |= htmlpage.KindsOf(htmlpage.KindAttribute)
	}
	p.respectNofollow = spec.Robots == crawlspec.RobotsObey && spec.Links.NoFollow == crawlspec.RobotsObey
	p.scan = htmlpage.Options{
		Agent: spec.ProductToken(), MaxText: max(int(cfg.MaxText), minRead) + utf8.UTFMax, MaxLinks: cfg.MaxLinks,
		Kinds: p.follow, Attributes: spec.Links.Attributes, Routes: spec.NormalizeOptions().KeepRoutes,
	}
	p.addFields(spec.Page.Fields)
	p.simhash = p.simhash || spec.Duplicates.Near != crawlspec.DuplicateKeep
	p.mask = pii.NewMasking(&spec.Mask)
	return p
}

// minRead is the least amount of text that is read of a page, however much a record keeps:
// duplicates and languages are detected by the text. One more character shows that there is more.
const minRead = 512 << 10

// addFields adds the fields of the page's record and their dependencies.
func (p *parsePlan) addFields(names []string) {
	for _, name := range names {
		p.fields = append(p.fields, pageField{name, pageFields[name]})
	}
	if slices.Contains(names, "links") {
		p.scan.LinkTexts, p.scan.Kinds = true, allKinds
	}
	p.scan.Headings = slices.Contains(names, "headings")
	p.simhash = slices.Contains(names, "simhash")
}

// allKinds are the kinds of links that a record may list.
var allKinds = kindsOf(crawlspec.LinkKinds)

func kindsOf(names []string) htmlpage.Kinds {
	set := htmlpage.NoKinds
	for _, name := range names {
		if k, ok := htmlpage.ParseKind(name); ok {
			set |= htmlpage.KindsOf(k)
		}
	}
	return set
}
