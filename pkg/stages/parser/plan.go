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

// parsePlan is what a spec wants of a page, made once for each revision.
type parsePlan struct {
	spec *crawlspec.Spec
	urls *weburl.Normalizer
	// secret takes the parameters from URLs that hold secrets of request rules; nil if
	// there are none.
	secret *weburl.Normalizer
	rules  *extract.Rules
	// follow are the kinds of link that are followed, obey says whether marks not
	// to follow them count.
	follow          htmlpage.Kinds
	respectNofollow bool
	scan            htmlpage.Options
	// fields are those of the page's record; none means the default ones.
	fields []pageField
	// simhash says that it is needed, be it for a field or to compare pages.
	simhash bool
	// maxRecord bounds a record in bytes.
	maxRecord   int
	content     article.Options
	mask        *pii.Masking // nil if nothing is masked
	contentless contentless
	err         error // of the spec, if its rules cannot be used
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

// minRead is how much text is read of a page at least, whatever a record keeps of
// it: duplicates and languages are found by the text of a page. One character more
// shows that there is more.
const minRead = 512 << 10

// addFields has the fields of the page's record made, and asks for what they need.
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

// allKinds are the kinds of link that a record may list.
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
