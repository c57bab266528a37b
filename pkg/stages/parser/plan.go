package parser

import (
	"encoding/json"
	"fmt"
	"slices"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
	"seine/internal/page/extract"
	"seine/internal/page/htmlpage"
	"seine/internal/page/pii"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

// parsePlan is what a spec wants of a page, made once for each revision.
type parsePlan struct {
	spec *messages.Spec
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
	mask    *masking // nil if nothing is masked
	err     error    // of the spec, if its rules cannot be used
}

func newParsePlan(cfg Config, spec *messages.Spec, urls *weburl.Normalizer) *parsePlan {
	p := &parsePlan{spec: spec, urls: urls, secret: stages.SecretNormalizer(spec)}
	p.rules, p.err = extract.Compile(spec)
	if p.err != nil {
		p.err = fmt.Errorf("rules of the spec: %w", p.err)
		return p
	}
	p.follow = kindsOf(spec.Links.Follow)
	if len(spec.Links.Attributes) > 0 {
		p.follow |= htmlpage.KindsOf(htmlpage.KindAttribute)
	}
	p.respectNofollow = spec.Robots == messages.RobotsObey && spec.Links.NoFollow == messages.RobotsObey
	p.scan = htmlpage.Options{
		Agent: spec.ProductToken(), MaxText: max(int(cfg.MaxText), minRead), MaxLinks: cfg.MaxLinks,
		Kinds: p.follow, Attributes: spec.Links.Attributes,
	}
	p.addFields(spec.Page.Fields)
	p.simhash = p.simhash || spec.Duplicates.Near != messages.DuplicateKeep
	p.mask = newMasking(&spec.Mask)
	return p
}

// minRead is how much text is read of a page at least, whatever a record keeps of
// it: pages are told apart, and languages detected, by their text.
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
var allKinds = kindsOf(messages.LinkKinds)

func kindsOf(names []string) htmlpage.Kinds {
	set := htmlpage.NoKinds
	for _, name := range names {
		if k, ok := htmlpage.ParseKind(name); ok {
			set |= htmlpage.KindsOf(k)
		}
	}
	return set
}

// masking is which personal data is masked, and where.
type masking struct {
	masker *pii.Masker
	fields []string
}

// newMasking returns nil if nothing is masked.
func newMasking(m *messages.Mask) *masking {
	if len(m.Fields) == 0 {
		return nil
	}
	kinds := pii.Kinds()
	if len(m.Kinds) > 0 {
		kinds = nil
		for _, k := range m.Kinds {
			kinds = append(kinds, pii.Kind(k))
		}
	}
	return &masking{masker: pii.New(kinds), fields: m.Fields}
}

// of reports whether a field is masked. "*" is every field but those that say
// which page it is.
func (m *masking) of(field string) bool {
	if m == nil {
		return false
	}
	return slices.Contains(m.fields, field) || slices.Contains(m.fields, "*") && !slices.Contains(identities, field)
}

// identities are the fields that say which page a record is of.
var identities = []string{
	"kind", "url", "canonical", "referrer", "crawl", "visit", "fetched_at", "digest", "simhash", "duplicate_of", "links",
}

// field masks the text of a field.
func (m *masking) field(name, text string) string {
	if !m.of(name) {
		return text
	}
	return m.masker.Text(text)
}

// letter masks what a dead letter says of a record, JSON or a text. Which field a
// reason speaks of cannot be told, and who masks one of them does not want it
// here, so all are.
func (m *masking) letter(text string) string {
	switch {
	case m == nil:
		return text
	case json.Valid([]byte(text)):
		return string(jsontext.MapStrings([]byte(text), m.masker.Text))
	}
	return m.masker.Text(text)
}
