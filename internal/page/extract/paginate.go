package extract

import (
	"net/url"
	"strconv"
	"strings"

	"seine/internal/base/weburl"
	"seine/pkg/crawlspec"
)

// paginate is a compiled crawlspec.Paginate.
type paginate struct {
	parameter         string
	first, step, last int
	while             *condition
}

// defaultPages is the default limit of pages of a listing, so that a listing whose end is not
// recognised ends too.
const defaultPages = 1000

func (c *compiler) paginate(m *crawlspec.Paginate, path string) *paginate {
	out := &paginate{parameter: m.Parameter, first: m.Start(), step: max(m.Step, 1)}
	out.last = out.first + (defaultPages-1)*out.step
	if m.Last != nil {
		out.last = *m.Last
	}
	out.while = c.condition(m.While, path+".while")
	return out
}

// run adds the link to the next page, if any.
func (p *paginate) run(r *run, rule *followRule) error {
	base, query, _ := strings.Cut(r.doc.URL, "?")
	pairs, at := p.find(query)
	current := p.first
	if at >= 0 {
		_, value, _ := strings.Cut(pairs[at], "=")
		n, err := strconv.Atoi(value)
		if err != nil || n < p.first {
			r.note(0, "", "parameter %s is %q: no page of the listing", p.parameter, shorten(value))
			return nil
		}
		current = n
	}
	if current > p.last-p.step {
		return nil
	}
	holds, err := p.while.holds(r, item{})
	if err != nil || !holds {
		return err
	}
	next := url.QueryEscape(p.parameter) + "=" + strconv.Itoa(current+p.step)
	if at >= 0 {
		name, _, _ := strings.Cut(pairs[at], "=")
		pairs[at] = name + next[strings.LastIndexByte(next, '='):]
	} else {
		pairs = append(pairs, next)
	}
	u, err := weburl.Canonicalize(base + "?" + strings.Join(pairs, "&")) // relative to the page, not to its base element
	if err != nil {
		r.note(0, "", "%v", err)
		return nil
	}
	return rule.addOnce(r, u)
}

// find splits a query, and returns the index of the parameter, or -1.
func (p *paginate) find(query string) (pairs []string, at int) {
	if query == "" {
		return nil, -1
	}
	pairs = strings.Split(query, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		if decoded, err := url.QueryUnescape(name); err == nil && decoded == p.parameter {
			return pairs, i
		}
	}
	return pairs, -1
}
