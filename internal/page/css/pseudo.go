package css

import (
	"strconv"
	"strings"
)

// pseudo reads a pseudo-class. Pseudo-elements there are none.
func (p *parser) pseudo(s *step) error {
	from := p.at
	p.at++
	start := p.at
	if err := p.name(); err != nil {
		return err
	}
	q := &parser{text: p.text[start:p.at]}
	name, err := q.value()
	if err != nil {
		return err
	}
	name = lower(name)
	if made := withoutArgument(name, p.table); made != nil {
		s.simple = append(s.simple, made)
		return nil
	}
	if p.next() != '(' {
		return p.alone(s, from)
	}
	p.at++
	p.space()
	made, err := p.argument(name)
	if err != nil {
		return err
	}
	p.space()
	if !p.take(')') {
		return p.fail(")")
	}
	s.simple = append(s.simple, made)
	return nil
}

// withoutArgument returns a pseudo-class that looks at other elements, nil if it
// is none.
func withoutArgument(name string, table func() int) simple {
	switch name {
	case "first-child":
		return nth{b: 1}
	case "last-child":
		return nth{b: 1, last: true}
	case "first-of-type":
		return nth{b: 1, ofType: true}
	case "last-of-type":
		return nth{b: 1, ofType: true, last: true}
	case "only-child":
		return only{}
	case "only-of-type":
		return only{ofType: true}
	case "enabled":
		return enabled{inDisabledFieldset{table()}}
	case "disabled":
		return disabled{inDisabledFieldset{table()}}
	}
	return nil
}

// argument reads what is in the brackets of a pseudo-class.
func (p *parser) argument(name string) (simple, error) {
	switch name {
	case "not", "has", "haschild":
		g, err := p.group()
		switch {
		case err != nil:
			return nil, err
		case name == "not":
			return not{g}, nil
		case name == "has":
			return has{g, p.table()}, nil
		}
		return hasChild{g}, nil
	case "contains", "containsown":
		text, err := p.value()
		return contains{strings.ToLower(text), name == "containsown"}, err
	case "matches", "matchesown":
		re, err := p.regex()
		return matches{re, name == "matchesown"}, err
	case "lang":
		text, err := p.value()
		return lang{strings.ToLower(text), p.table()}, err
	case "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type":
		a, b, err := p.nth()
		return nth{a, b, strings.Contains(name, "-last-"), strings.HasSuffix(name, "-of-type")}, err
	}
	return nil, p.fail("a pseudo-class")
}

// nth reads what selects positions: odd, even, or an+b.
func (p *parser) nth() (a, b int, err error) {
	rest := strings.ToLower(p.rest())
	for word, is := range map[string][2]int{"odd": {2, 1}, "even": {2, 0}} {
		if strings.HasPrefix(rest, word) {
			p.at += len(word)
			return is[0], is[1], nil
		}
	}
	sign := p.sign()
	n, given := p.number()
	if c := p.next(); c != 'n' && c != 'N' {
		return 0, sign * n, nil
	}
	p.at++
	if !given {
		n = 1
	}
	a = sign * n
	end := p.at
	p.space()
	if c := p.next(); c != '+' && c != '-' {
		p.at = end
		return a, 0, nil
	}
	sign = p.sign()
	p.space()
	b, given = p.number()
	if !given {
		return 0, 0, p.fail("a number")
	}
	return a, sign * b, nil
}

func (p *parser) sign() int {
	if p.take('-') {
		return -1
	}
	p.take('+')
	return 1
}

func (p *parser) number() (n int, given bool) {
	from := p.at
	for c := p.next(); c >= '0' && c <= '9'; c = p.next() {
		p.at++
	}
	n, err := strconv.Atoi(p.text[from:p.at])
	return n, err == nil
}
