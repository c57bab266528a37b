package extract

import (
	"fmt"

	"seine/pkg/crawlspec"
)

// followRule is a compiled crawlspec.FollowRule.
type followRule struct {
	target
	each     *selector // nil: the document
	with     []*field
	own      map[string]bool // names in with
	url      *template
	link     *field // selects URLs directly
	paginate *paginate
	priority *int
	depth    int
}

func (c *compiler) followRule(m *crawlspec.FollowRule, path string) *followRule {
	out := &followRule{priority: m.Priority, depth: 1}
	out.target = c.target(&m.Target, path)
	var in inputKind
	out.each, in = c.each(m.Each, path+".each")
	out.with = c.fields(m.With, path+".with", in)
	out.own = namesOf(out.with)
	switch {
	case m.URL != "":
		out.url = compileTemplate(m.URL)
	case m.Paginate != nil:
		out.paginate = c.paginate(m.Paginate, path+".paginate")
		out.depth = 0
	default:
		out.link = c.link(m, path, in)
	}
	if m.Depth != nil {
		out.depth = *m.Depth
	}
	out.types = c.types()
	return out
}

// link compiles the selector of URLs as a field that selects all of them.
func (c *compiler) link(m *crawlspec.FollowRule, path string, in inputKind) *field {
	f := &crawlspec.Field{Selector: m.Selector, Get: m.Get, All: true}
	nodes := m.CSS != "" || m.XPath != "" || m.JSONLD == "" && m.Meta == "" && m.Regex == "" && m.JQ == "" && in == amongNodes
	if f.Get == "" && nodes && m.Regex == "" && m.JQ == "" {
		f.Get = "@href"
	}
	return c.field(f, path, in)
}

// run adds the links of a document.
func (rule *followRule) run(r *run) error {
	if rule.paginate != nil {
		return rule.paginate.run(r, rule)
	}
	fields := rule.with
	if rule.link != nil {
		fields = []*field{rule.link}
	}
	return r.each(rule.each, fields, func(in item) error { return rule.find(r, in) })
}

func (rule *followRule) find(r *run, in item) error {
	if rule.link != nil {
		v, _, err := rule.link.eval(r, in, nil)
		if err != nil {
			return err
		}
		return rule.addAll(r, v)
	}
	with, _, err := r.object(rule.with, in)
	if missing := (*errMissing)(nil); asMissing(err, &missing) {
		r.note(r.index, missing.field, "required, but nothing was found: no link")
		return nil
	}
	if err != nil {
		return err
	}
	return rule.expand(r, with, 0)
}

// addAll adds the URLs of a value: a text, or nested lists of texts.
func (rule *followRule) addAll(r *run, v any) error {
	switch v := v.(type) {
	case string:
		return rule.add(r, v)
	case []any:
		for _, e := range v {
			if err := rule.addAll(r, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkCost is the cost of filling a template and resolving the reference, in units of work: a page
// controls the number of combinations.
const linkCost = 256

// expand adds a URL for each combination of the list members in with, from the i-th value on.
func (rule *followRule) expand(r *run, with members, i int) error {
	for ; i < len(with); i++ {
		list, ok := with[i].value.([]any)
		if !ok {
			continue
		}
		one := append(members(nil), with...)
		for _, v := range list {
			one[i].value = v
			if err := rule.expand(r, one, i+1); err != nil {
				return err
			}
		}
		return nil
	}
	text, missing, err := rule.url.fillURL(func(name string) (string, bool) { return r.lookup(with, rule.own, name) })
	if err == nil {
		err = r.spend(linkCost + len(text))
	}
	if err != nil {
		return err
	}
	if missing != "" {
		r.note(r.index, missing, "has no single value: no link")
		return nil
	}
	return rule.add(r, text)
}

// add adds the link to a reference unless it was added before.
func (rule *followRule) add(r *run, ref string) error {
	u, err := r.doc.Resolve(ref)
	if err != nil {
		r.note(r.index, "", "%v", err)
		return nil
	}
	return rule.addOnce(r, u)
}

func (rule *followRule) addOnce(r *run, u string) error {
	if r.links[u] {
		return nil
	}
	if len(r.links) >= MaxLinks {
		return fmt.Errorf("%w: more than %d links", errBound, MaxLinks)
	}
	r.links[u] = true
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Links = append(r.result.Links, Link{URL: u, Priority: rule.priority, DepthAdd: rule.depth, Rule: rule.path})
	return nil
}
