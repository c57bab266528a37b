package extract

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"seine/internal/base/regexbound"
)

// patterns are the regular expressions of a query, by text. Those of a page are
// not bounded, so only so many are remembered.
type patterns struct {
	mu    sync.Mutex
	known map[string]*pattern
}

const maxPatternsJQ = 100

// maxSizeRegexJQ is how many instructions one of them may have. It is compiled in
// one piece.
const maxSizeRegexJQ = 10_000

func (p *patterns) get(text, flags string) (*pattern, error) {
	if strings.Trim(flags, "gim") != "" {
		return nil, fmt.Errorf("unsupported regular expression flag: %q", flags)
	}
	if strings.Contains(flags, "m") {
		text = "(?s)" + text
	}
	if strings.Contains(flags, "i") {
		text = "(?i)" + text
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.known[text]; known != nil {
		return known, nil
	}
	regex, err := regexbound.CompileSmall(text, maxSizeRegexJQ)
	if errors.Is(err, regexbound.ErrLarge) {
		return nil, fmt.Errorf("%w: %w", errBound, err)
	}
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression %q: %w", text, err)
	}
	made, err := patternOf(regex, text)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression %q: %w", text, err)
	}
	if p.known == nil || len(p.known) >= maxPatternsJQ {
		p.known = make(map[string]*pattern)
	}
	p.known[text] = made
	return made, nil
}

// operandsOf gives the operands of match and test.
func (m *meter) operandsOf(v, expr, flags any) (text string, p *pattern, all bool, err error) {
	text, ok := v.(string)
	regex, is := expr.(string)
	letters, are := flags.(string)
	switch {
	case !ok || !is || !are && flags != nil:
		return "", nil, false, notFor("match", v, expr, flags)
	case len(text) > maxTextRegexJQ:
		return "", nil, false, tooLarge("the bytes of a text that a regular expression is given are", len(text), maxTextRegexJQ)
	case len(regex) > maxPatternJQ:
		return "", nil, false, tooLarge("the bytes of a regular expression are", len(regex), maxPatternJQ)
	}
	p, err = m.patterns.get(regex, letters)
	return text, p, strings.Contains(letters, "g"), err
}

func (m *meter) spendOn(n int) error {
	m.work(n)
	return m.err
}

func (m *meter) test(v, expr, flags any) any {
	text, p, _, err := m.operandsOf(v, expr, flags)
	if err != nil {
		return err
	}
	found, err := p.from(text, 0, m.spendOn)
	return m.result(found != nil, err)
}

func (m *meter) match(v, expr, flags any) any {
	text, p, all, err := m.operandsOf(v, expr, flags)
	if err != nil {
		return err
	}
	matches := []any{}
	counted := &characters{text: text}
	for found, err := range p.each(text, m.spendOn) {
		if err != nil {
			return err
		}
		matches = append(matches, m.keep(m.matched(p, counted, found)))
		if m.err != nil || !all {
			break
		}
	}
	return m.result(m.keep(matches), m.err)
}

// matched describes a match, with its groups.
func (m *meter) matched(p *pattern, c *characters, found []int) map[string]any {
	captures := []any{}
	names := p.regex.SubexpNames()
	start := c.before(found[0])
	for i := 2; i < len(found); i += 2 {
		capture := map[string]any{"name": nil, "offset": -1, "length": 0, "string": nil}
		if name := names[i/2]; name != "" {
			capture["name"] = name
		}
		if found[i] >= 0 {
			text := c.text[found[i]:found[i+1]]
			capture["string"], capture["length"] = text, utf8.RuneCountInString(text)
			capture["offset"] = start + utf8.RuneCountInString(c.text[found[0]:found[i]])
		}
		captures = append(captures, m.keep(capture))
		m.work(1 + (found[1]-found[0])/bytesAWork)
	}
	text := c.text[found[0]:found[1]]
	return map[string]any{"offset": start, "length": utf8.RuneCountInString(text), "string": text, "captures": m.keep(captures)}
}

// characters counts those of a text before growing places.
type characters struct {
	text      string
	at, count int
}

func (c *characters) before(at int) int {
	c.count += utf8.RuneCountInString(c.text[c.at:at])
	c.at = at
	return c.count
}
