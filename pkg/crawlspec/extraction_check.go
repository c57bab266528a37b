package crawlspec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"seine/internal/base/lazyregexp"
	"seine/pkg/messages"
)

// Limits of the rules of a spec, far beyond the needs of one site: every parser reads a spec, and
// tries the matching rules on every page.
const (
	MaxRules       = 500  // of records, and of follow
	MaxFields      = 200  // of one record, or of one object in it
	MaxFieldDepth  = 5    // of objects in objects
	MaxPatterns    = 100  // of one rule
	maxExpression  = 8192 // bytes of a selector, regular expression or template
	maxConditions  = 20   // in "any"
	maxReplace     = 20
	maxConditioned = 4 // nesting of conditions
)

// ReservedFields are the names of fields that every record has.
var ReservedFields = []string{"kind", "url", "fetched_at", "crawl", "visit", "run", "duplicate_of", "key"}

// eachFrom are the values of Each.From.
var eachFrom = []string{"main", "sections"}

// FieldMetadata is the name of the metadata of seeds in records. Rules may define a field with this
// name, which then replaces it.
const FieldMetadata = "metadata"

// Conversions are the values of a field's As.
var Conversions = []string{"text", "number", "integer", "boolean", "date", "url", "json"}

var (
	fieldName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_\-]{0,63}$`)
	attribute = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.:\-]{0,63}$`)
)

// check reports all errors that can be found without compiling selectors and expressions.
func (e *Extraction) check(p *Problems) {
	e.checkPage(p)
	e.checkLinks(p)
	e.checkDuplicates(p)
	e.checkGone(p)
	p.oneOf("content.comments", string(e.Content.Comments), []string{string(CommentsDrop), string(CommentsKeep)})
	p.oneOf("content.prefer", string(e.Content.Prefer), []string{string(PreferBalanced), string(PreferPrecision), string(PreferRecall)})
	e.checkChunks(p)
	e.checkMask(p)
	if len(e.Follow) > MaxRules {
		p.Addf("follow", "%d rules: at most %d", len(e.Follow), MaxRules)
		return
	}
	if len(e.Records) > MaxRules {
		p.Addf("records", "%d rules: at most %d", len(e.Records), MaxRules)
		return
	}
	for i := range e.Follow {
		e.Follow[i].check(p, fmt.Sprintf("follow[%d]", i))
	}
	for i := range e.Records {
		e.Records[i].check(p, fmt.Sprintf("records[%d]", i))
	}
}

func (e *Extraction) checkPage(p *Problems) {
	p.oneOf("page.emit", string(e.Page.Emit), []string{string(EmitAuto), string(EmitAlways), string(EmitNever)})
	for i, name := range e.Page.Fields {
		if slices.Contains(addedFields, name) {
			p.Addf(fmt.Sprintf("page.fields[%d]", i), "%q: is added to the records that need it: leave it out", name)
			return
		}
	}
	p.list("page.fields", e.Page.Fields, PageFields)
	if e.Page.When != nil {
		e.Page.When.check(p, "page.when", 0)
	}
}

func (e *Extraction) checkLinks(p *Problems) {
	p.list("links.follow", e.Links.Follow, LinkKinds)
	p.oneOf("links.nofollow", string(e.Links.NoFollow), []string{string(RobotsObey), string(RobotsIgnore)})
	for i, name := range e.Links.Attributes {
		if !attribute().MatchString(name) {
			p.Addf(fmt.Sprintf("links.attributes[%d]", i), "%q: must be the name of an attribute", messages.Clip(name))
		}
	}
}

func (e *Extraction) checkDuplicates(p *Problems) {
	all := []string{string(DuplicateKeep), string(DuplicateMark), string(DuplicateDrop)}
	p.oneOf("duplicates.exact", string(e.Duplicates.Exact), all)
	p.oneOf("duplicates.near", string(e.Duplicates.Near), all)
	p.oneOf("duplicates.unchanged", string(e.Duplicates.Unchanged), []string{string(UnchangedKeep), string(UnchangedDrop)})
	between(p, "duplicates.distance", e.Duplicates.Distance, 0, MaxDistance)
}

func (e *Extraction) checkGone(p *Problems) {
	p.oneOf("gone", string(e.Gone), []string{string(WhenGoneDrop), string(WhenGoneRecord)})
	for i := range e.Records {
		if kind := e.Records[i].Kind; kind == messages.KindGone || kind == messages.KindVisit {
			p.Addf(fmt.Sprintf("records[%d].kind", i), "%q: is the kind of records of visits that make no others: choose another name", kind)
		}
	}
}

func (e *Extraction) checkMask(p *Problems) {
	p.list("mask.kinds", e.Mask.Kinds, MaskKinds)
	for i, name := range e.Mask.Fields {
		known := name == "*" || name == "key" || slices.Contains(PageFields, name) ||
			e.hasField(name)
		if !known {
			p.Addf(fmt.Sprintf("mask.fields[%d]", i), `%q: must be the name of a field of the page or of a record rule, or "*"`, messages.Clip(name))
		}
	}
	if len(e.Mask.Kinds) > 0 && len(e.Mask.Fields) == 0 {
		p.Addf("mask.fields", `is missing: say which fields to mask, or "*"`)
	}
}

func (e *Extraction) hasField(name string) bool {
	for _, r := range e.Rules() {
		if r.Fields.has(name) {
			return true
		}
	}
	return false
}

// list reports values that are not in those, and repeated ones.
func (p *Problems) list(path string, values, those []string) {
	for i, v := range values {
		at := fmt.Sprintf("%s[%d]", path, i)
		p.oneOf(at, v, those)
		if slices.Contains(values[:i], v) {
			p.Addf(at, "%q is listed twice", v)
		}
	}
}

func (t *Target) check(p *Problems, path string) {
	p.patterns(path+".match", t.Match, MaxPatterns)
	p.list(path+".types", t.Types, DocumentTypes)
	if t.When != nil {
		t.When.check(p, path+".when", 0)
	}
}

// keyPlaces are the placeholders of a key that stand for values of the page, unless the rule has
// fields with these names.
var keyPlaces = []string{"host", "url"}

func (r *RecordRule) check(p *Problems, path string) {
	if !messages.ValidKind(r.Kind) {
		p.Addf(path+".kind", "%q: must be a lower-case letter, then letters, digits and '_', at most 63", messages.Clip(r.Kind))
	}
	r.Target.check(p, path)
	r.Each.checkEach(p, path+".each")
	if len(r.Fields) == 0 {
		p.Addf(path+".fields", "is missing: a record needs a field")
	}
	r.Fields.check(p, path+".fields", 1)
	for _, name := range ReservedFields {
		if r.Fields.has(name) {
			p.Addf(path+".fields."+name, "every record has %q already: choose another name", name)
		}
	}
	p.template(path+".key", r.Key)
	for _, place := range r.Key.Placeholders() {
		if !place.Secret && !r.Fields.has(place.Name) && !slices.Contains(keyPlaces, place.Name) {
			p.Addf(path+".key", "{%s}: no such field: a key is made of the rule's own fields, and of {host} and {url} of the page", place.Name)
		}
	}
}

func (e *Each) checkEach(p *Problems, path string) {
	if e == nil {
		return
	}
	switch {
	case e.From != "" && !e.None():
		p.Addf(path+".from", "excludes selectors: it says itself what there is a record of")
	case e.From != "":
		p.oneOf(path+".from", e.From, eachFrom)
		return
	case e.None():
		p.Addf(path, "selects nothing: give css, xpath, jq, json_ld, regex or from")
	}
	if e.Meta != "" {
		p.Addf(path+".meta", "has one value only: use css, xpath, jq, json_ld or regex")
	}
	e.check(p, path)
}

// check reports selectors that exclude each other.
func (s *Selector) check(p *Problems, path string) {
	given := s.given()
	if len(given) > 1 {
		p.Addf(path+"."+given[1], "there is %s already: only one of css, xpath, json_ld and meta", given[0])
	}
	for _, e := range [...]struct{ key, text string }{
		{"css", s.CSS}, {"xpath", s.XPath}, {"json_ld", s.JSONLD}, {"meta", s.Meta}, {"regex", s.Regex}, {"jq", s.JQ},
	} {
		p.long(path+"."+e.key, e.text)
	}
}

func (s *Selector) given() []string {
	var all []string
	for _, e := range [...]struct{ key, text string }{
		{"css", s.CSS}, {"xpath", s.XPath}, {"json_ld", s.JSONLD}, {"meta", s.Meta},
	} {
		if e.text != "" {
			all = append(all, e.key)
		}
	}
	return all
}

// languageTag matches the usual part of BCP 47: a language, perhaps its script and region.
var languageTag = lazyregexp.New(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)

// languages reports invalid language tags.
func (p *Problems) languages(path string, tags []string) {
	for i, tag := range tags {
		if !languageTag().MatchString(tag) {
			p.Addf(memberPath(path, i, len(tags)), "%q: must be the tag of a language, such as en, de or pt-BR", messages.Clip(tag))
		}
	}
}

func (c *Condition) asksNothing() bool {
	return c.None() && len(c.Status) == 0 && len(c.Language) == 0 && len(c.TextLanguage) == 0 && c.NoIndex == nil &&
		len(c.Header) == 0 && c.Not == nil && len(c.Any) == 0
}

func (c *Condition) check(p *Problems, path string, depth int) {
	if depth > maxConditioned {
		p.Addf(path, "conditions are nested more than %d deep", maxConditioned)
		return
	}
	if c.asksNothing() {
		p.Addf(path, "has no condition: give css, xpath, jq, json_ld, meta, regex, status, language, text_language, noindex, header, not or any")
	}
	if len(c.Header) > maxConditions {
		p.Addf(path+".header", "%d headers: at most %d", len(c.Header), maxConditions)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Header)) {
		if !httpguts.ValidHeaderFieldName(name) {
			p.Addf(path+".header", "%q: must be the name of a header, such as X-Robots-Tag", messages.Clip(name))
		}
	}
	p.languages(path+".language", c.Language)
	p.languages(path+".text_language", c.TextLanguage)
	if len(c.Any) > maxConditions {
		p.Addf(path+".any", "%d conditions: at most %d", len(c.Any), maxConditions)
		return
	}
	c.Selector.check(p, path)
	for i, status := range c.Status {
		between(p, memberPath(path+".status", i, len(c.Status)), status, 100, 599)
	}
	if c.Not != nil {
		c.Not.check(p, path+".not", depth+1)
	}
	for i := range c.Any {
		c.Any[i].check(p, fmt.Sprintf("%s.any[%d]", path, i), depth+1)
	}
}

func (r *FollowRule) check(p *Problems, path string) {
	r.Target.check(p, path)
	r.Each.checkEach(p, path+".each")
	r.With.check(p, path+".with", 1)
	r.checkWays(p, path)
	if r.Priority != nil {
		p.priority(path+".priority", *r.Priority)
	}
	if r.Depth != nil {
		between(p, path+".depth", *r.Depth, 0, messages.MaxDepth)
	}
	p.template(path+".url", r.URL)
	if r.Get != "" {
		p.get(path+".get", r.Get)
	}
	r.Selector.check(p, path)
}

// checkWays reports a rule that has no way to find a link, or more than one.
func (r *FollowRule) checkWays(p *Problems, path string) {
	ways := 0
	for _, given := range []bool{r.URL != "", !r.Selector.None(), r.Paginate != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0 && r.Get == "":
		p.Addf(path, "finds no link: give url, paginate, or css, xpath, jq, json_ld or regex")
	case ways > 1 || r.Get != "" && (r.URL != "" || r.Paginate != nil):
		p.Addf(path, "only one of url, paginate and a selector")
	case ways == 0 && r.Each == nil:
		p.Addf(path+".get", "of what? give css or xpath, or each")
	case len(r.With) > 0 && r.URL == "":
		p.Addf(path+".with", "is for the templates of url, which is missing")
	case r.Each != nil && r.Paginate != nil:
		p.Addf(path+".each", "has no meaning with paginate")
	}
	if r.Paginate != nil {
		r.Paginate.check(p, path+".paginate")
	}
}

func (g *Paginate) check(p *Problems, path string) {
	if g.Parameter == "" || len(g.Parameter) > maxExpression {
		p.Addf(path+".parameter", "%q: must be the name of a parameter of the URL", messages.Clip(g.Parameter))
	}
	const most = 1_000_000_000
	if g.First != nil {
		between(p, path+".first", *g.First, 0, most)
	}
	if g.Step < 0 || g.Step > most {
		p.Addf(path+".step", "%d: must be from 1 to %d", g.Step, most)
	}
	if g.Last != nil && (*g.Last < g.Start() || *g.Last > most) {
		p.Addf(path+".last", "%d: must be from first (%d) to %d", *g.Last, g.Start(), most)
	}
	if g.While == nil {
		p.Addf(path+".while", "is missing: say what a page has that is not the end, as in {css: .item}")
		return
	}
	g.While.check(p, path+".while", 0)
}

// Start returns the value of the parameter on the first page.
func (g *Paginate) Start() int {
	if g.First == nil {
		return 1
	}
	return *g.First
}

func (fs Fields) has(name string) bool {
	return slices.ContainsFunc(fs, func(f NamedField) bool { return f.Name == name })
}

// check reports errors of fields at a nesting depth.
func (fs Fields) check(p *Problems, path string, depth int) {
	switch {
	case len(fs) > MaxFields:
		p.Addf(path, "%d fields: at most %d", len(fs), MaxFields)
		return
	case depth > MaxFieldDepth:
		p.Addf(path, "objects are nested more than %d deep", MaxFieldDepth)
		return
	}
	for i := range fs {
		at := path + "." + fs[i].Name
		if !fieldName().MatchString(fs[i].Name) {
			p.Addf(at, "%q: a field's name has letters, digits, '_' and '-', at most 64, and begins with a letter or '_'", messages.Clip(fs[i].Name))
			continue
		}
		if fs[:i].has(fs[i].Name) {
			p.Addf(at, "is there twice")
		}
		fs[i].Field.check(p, at, depth)
	}
}

var errSecretHere = errors.New("secrets are for requests only: what is extracted is stored")

func (p *Problems) template(path string, t Template) {
	p.long(path, string(t))
	for _, place := range t.Placeholders() {
		if place.Secret {
			p.Add(path, errSecretHere)
		}
	}
}

func (p *Problems) long(path, text string) {
	if len(text) > maxExpression {
		p.Addf(path, "has %d bytes: at most %d", len(text), maxExpression)
	}
}

// get reports an invalid Get.
func (p *Problems) get(path, get string) {
	if name, ok := strings.CutPrefix(get, "@"); ok {
		if !attribute().MatchString(name) {
			p.Addf(path, "%q: must be @ and the name of an attribute", messages.Clip(get))
		}
		return
	}
	switch get {
	case "text", "raw", "html", "outer_html", "markdown":
	default:
		p.Addf(path, `%q: must be text, raw, html, outer_html, markdown or "@attribute"`, messages.Clip(get))
	}
}
