package extract

import (
	"fmt"
	"regexp"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Compile compiles the rules of a spec, which must be valid. Its errors are *crawlspec.FieldError,
// joined, each with the path of the invalid key: crawlspec.FieldErrors separates them.
func Compile(spec *crawlspec.Spec) (*Rules, error) {
	var problems crawlspec.Problems
	out := &Rules{limit: MaxTime}
	if when := spec.Page.When; when != nil && spec.EmitsPage() {
		c := &compiler{problems: &problems, inferred: anyType}
		out.page = &target{path: pageRule, kind: messages.KindPage, types: anyType, when: c.condition(when, pageRule+".when")}
		out.targets = append(out.targets, out.page)
	}
	hosts := make(map[string]*keyHosts)
	for path, r := range spec.Rules() {
		c := &compiler{problems: &problems, inferred: anyType}
		rule := c.record(r, path)
		if r.Each != nil && r.Each.From == crawlspec.EachChunk {
			rule.each.chunks = chunkOptions(spec.Chunks)
		}
		if hosts[rule.kind] == nil {
			hosts[rule.kind] = newKeyHosts()
		}
		rule.hosts = hosts[rule.kind]
		out.records, out.targets = append(out.records, rule), append(out.targets, &rule.target)
	}
	for i := range spec.Follow {
		c := &compiler{problems: &problems, inferred: anyType}
		rule := c.followRule(&spec.Follow[i], fmt.Sprintf("follow[%d]", i))
		out.follow, out.targets = append(out.follow, rule), append(out.targets, &rule.target)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// pageRule is the path in a spec of the condition for page records.
const pageRule = "page"

// target is a compiled crawlspec.Target with the name of its rule.
type target struct {
	path     string
	kind     string
	patterns []*regexp.Regexp
	sources  []string // of patterns
	types    types
	when     *condition
}

func (c *compiler) target(m *crawlspec.Target, path string) target {
	c.given = typesNamed(m.Types)
	out := target{path: path, sources: m.Match}
	for i, p := range m.Match {
		re, err := crawlspec.CompilePattern(p)
		at := path + ".match"
		if len(m.Match) > 1 {
			at = fmt.Sprintf("%s[%d]", at, i)
		}
		c.failed(at, err)
		out.patterns = append(out.patterns, re)
	}
	out.when = c.condition(m.When, path+".when")
	return out
}

// types returns the document types of the rule. All of the rule must have been compiled.
func (c *compiler) types() types {
	if c.given != 0 {
		return c.given
	}
	return c.inferred
}

// matchURL reports whether the rule applies to a URL, and returns the values of the matching
// pattern's named groups.
func (t *target) matchURL(url string) (groups map[string]string, ok bool) {
	if len(t.patterns) == 0 {
		return nil, true
	}
	for _, p := range t.patterns {
		if p.NumSubexp() == 0 {
			if p.MatchString(url) {
				return nil, true
			}
			continue
		}
		m := p.FindStringSubmatch(url)
		if m == nil {
			continue
		}
		groups = make(map[string]string)
		for i, name := range p.SubexpNames() {
			if name != "" {
				groups[name] = m[i]
			}
		}
		return groups, true
	}
	return nil, false
}
