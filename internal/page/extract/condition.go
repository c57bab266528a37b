package extract

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"seine/internal/page/document"
	"seine/pkg/crawlspec"
)

// condition is a compiled crawlspec.Condition.
type condition struct {
	selector  *selector // nil if none
	status    []int
	languages []languageRange
	noindex   *bool
	headers   []headerMatch
	not       *condition
	any       []*condition
}

// condition compiles a condition. The document types that its parts need count for the rule, unless
// it is an alternative.
func (c *compiler) condition(m *crawlspec.Condition, path string) *condition {
	if m == nil {
		return nil
	}
	out := &condition{status: m.Status, noindex: m.NoIndex}
	for _, name := range slices.Sorted(maps.Keys(m.Header)) {
		re, err := compilePattern(m.Header[name])
		c.failed(path+".header."+name, err)
		out.headers = append(out.headers, headerMatch{name, re})
	}
	if len(m.Language) > 0 {
		out.languages = append(out.languages, languageRange{"language", m.Language})
	}
	if len(m.TextLanguage) > 0 {
		out.languages = append(out.languages, languageRange{"text_language", m.TextLanguage})
	}
	if !m.Selector.None() {
		out.selector, _ = c.selector(m.Selector, path, amongPage)
		out.selector.first()
	}
	if m.Not == nil && len(m.Any) == 0 {
		return out
	}
	alone := &compiler{problems: c.problems, given: c.given}
	alone.inferred = anyType
	out.not = alone.condition(m.Not, path+".not")
	for i := range m.Any {
		alone.inferred = anyType
		out.any = append(out.any, alone.condition(&m.Any[i], fmt.Sprintf("%s.any[%d]", path, i)))
	}
	return out
}

// holds reports whether all parts of the condition hold.
func (c *condition) holds(r *run, in item) (bool, error) {
	if len(c.status) > 0 && !slices.Contains(c.status, r.doc.Status) {
		return false, nil
	}
	if _, why := c.unmet(r.doc); why != "" {
		return false, nil
	}
	for _, h := range c.headers {
		if has, err := h.has(r); err != nil || !has {
			return false, err
		}
	}
	if c.selector != nil {
		found, err := c.selector.finds(r, in)
		if err != nil || !found {
			return false, err
		}
	}
	if c.not != nil {
		holds, err := c.not.holds(r, in)
		if err != nil || holds {
			return false, err
		}
	}
	for _, one := range c.any {
		holds, err := one.holds(r, in)
		if err != nil || holds {
			return holds, err
		}
	}
	return len(c.any) == 0, nil
}

func (s *selector) finds(r *run, in item) (bool, error) {
	found := false
	err := s.all(r, in, func(i item) bool {
		found = i.truth()
		return !found
	})
	return found, err
}

func asksNotToBeIndexed(doc *document.Document) bool {
	v, _ := doc.PageField("noindex") // the parser writes valid JSON
	is, _ := v.(bool)
	return is
}

// headerMatch requires that a value of a header matches.
type headerMatch struct {
	name    string
	pattern *pattern
}

func (h *headerMatch) has(r *run) (bool, error) {
	for _, value := range http.Header(r.doc.Header).Values(h.name) {
		at, err := h.pattern.from(value, 0, r.spend)
		if err != nil || at != nil {
			return err == nil, err
		}
	}
	return false, nil
}
