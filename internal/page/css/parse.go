package css

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"seine/internal/base/regexbound"
)

// Selector is a compiled group of selectors, safe for concurrent use.
type Selector struct {
	group  group
	tables int // how many the matcher of a document needs
}

// Compile reads a group of selectors. Its errors are those of cascadia.
func Compile(text string) (*Selector, error) {
	if _, err := cascadia.ParseGroup(text); err != nil {
		return nil, err
	}
	p := &parser{text: text}
	g, err := p.group()
	if err == nil && p.at < len(p.text) {
		err = p.fail("the end")
	}
	if err != nil {
		return nil, err
	}
	return &Selector{group: g, tables: p.tables}, nil
}

// group is a list of selectors, of which one must match.
type group []*step

// step is a compound selector, and how it is combined with what is left of it.
type step struct {
	simple []simple
	// by is the combinator, 0 if there is nothing to the left; left is that, and
	// table what is known of nodes that it was asked about.
	by    byte
	left  *step
	table int
}

// simple is a simple selector.
type simple interface {
	// matches reports whether it matches a node of any type.
	matches(m *Matcher, n *html.Node) bool
}

// parser takes a valid selector apart, as cascadia does. It never has to say more
// of a mistake than that there is one.
type parser struct {
	text   string
	at     int
	tables int
}

func (p *parser) fail(expected string) error {
	return fmt.Errorf("css %q: byte %d: expected %s", p.text, p.at, expected)
}

// table returns the number of a new table.
func (p *parser) table() int {
	p.tables++
	return p.tables - 1
}

func (p *parser) rest() string { return p.text[p.at:] }

// next returns the byte that comes, 0 at the end.
func (p *parser) next() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// space skips white space and comments, and reports whether there were any.
func (p *parser) space() bool {
	from := p.at
	for p.at < len(p.text) {
		if strings.IndexByte(" \t\r\n\f", p.text[p.at]) >= 0 {
			p.at++
			continue
		}
		if !strings.HasPrefix(p.rest(), "/*") {
			break
		}
		end := strings.Index(p.rest()[2:], "*/")
		if end < 0 {
			break
		}
		p.at += 2 + end + 2
	}
	return p.at > from
}

func (p *parser) group() (group, error) {
	var g group
	for {
		s, err := p.selector()
		if err != nil {
			return nil, err
		}
		g = append(g, s)
		if !p.take(',') {
			return g, nil
		}
	}
}

func (p *parser) selector() (*step, error) {
	p.space()
	s, err := p.compound()
	if err != nil {
		return nil, err
	}
	for {
		by := byte(0)
		if p.space() {
			by = ' '
		}
		switch c := p.next(); c {
		case '+', '>', '~':
			by = c
			p.at++
			p.space()
		case ',', ')', 0:
			return s, nil
		}
		if by == 0 {
			return s, nil
		}
		right, err := p.compound()
		if err != nil {
			return nil, err
		}
		right.by, right.left, right.table = by, s, p.table()
		s = right
	}
}

func (p *parser) compound() (*step, error) {
	s := new(step)
	switch c := p.next(); {
	case c == '*':
		p.at++
		if len(p.text) > p.at+2 && strings.HasPrefix(p.rest(), "|*") {
			p.at += 2
		}
	case strings.IndexByte("#.[:", c) < 0:
		from := p.at
		if err := p.name(); err != nil {
			return nil, err
		}
		if err := p.alone(s, from); err != nil {
			return nil, err
		}
	}
	for {
		from := p.at
		var err error
		switch p.next() {
		case '#', '.':
			p.at++
			if err = p.name(); err == nil {
				err = p.alone(s, from)
			}
		case '[':
			err = p.attribute(s)
		case ':':
			err = p.pseudo(s)
		default:
			if len(s.simple) == 0 {
				s.simple = []simple{anyElement{}}
			}
			return s, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// alone adds what cascadia makes of the text since from, which concerns one
// element alone.
func (p *parser) alone(s *step, from int) error {
	sel, err := cascadia.Parse(p.text[from:p.at])
	if err != nil {
		return err
	}
	s.simple = append(s.simple, alone{sel})
	return nil
}

// name skips a name. Its escapes are cascadia's to read.
func (p *parser) name() error {
	from := p.at
	for p.at < len(p.text) && (isName(p.text[p.at]) || p.text[p.at] == '\\') {
		if p.text[p.at] != '\\' {
			p.at++
			continue
		}
		if _, err := p.escape(); err != nil {
			return err
		}
	}
	if p.at == from {
		return p.fail("a name")
	}
	return nil
}

func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c > 127
}

// escape returns the character that an escape stands for.
func (p *parser) escape() (string, error) {
	p.at++
	from := p.at
	for p.at < len(p.text) && p.at < from+6 && strings.IndexByte("0123456789abcdefABCDEF", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == from {
		if p.at == len(p.text) {
			return "", p.fail("a character")
		}
		p.at++
		return p.text[from:p.at], nil
	}
	n, err := strconv.ParseUint(p.text[from:p.at], 16, 32)
	if err != nil {
		return "", err
	}
	switch {
	case strings.HasPrefix(p.rest(), "\r\n"):
		p.at += 2
	case p.at < len(p.text) && strings.IndexByte(" \t\r\n\f", p.text[p.at]) >= 0:
		p.at++
	}
	return string(rune(n)), nil
}

// value returns a text that is quoted, or a name.
func (p *parser) value() (string, error) {
	quote := p.next()
	if quote != '"' && quote != '\'' {
		quote = 0
	} else {
		p.at++
	}
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case quote != 0 && c == quote:
			p.at++
			return b.String(), nil
		case c == '\\' && quote != 0 && p.at+1 < len(p.text) && strings.IndexByte("\r\n\f", p.text[p.at+1]) >= 0: // goes on in the next line
			p.at += 2
			if strings.HasPrefix(p.text[p.at-1:], "\r\n") {
				p.at++
			}
		case c == '\\':
			s, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteString(s)
		case quote == 0 && !isName(c):
			return b.String(), nil
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	if quote != 0 {
		return "", p.fail("the end of the string")
	}
	return b.String(), nil
}

// regex returns a regular expression, which ends before a bracket that it has not
// opened.
func (p *parser) regex() (*regexbound.Regexp, error) {
	from, open := p.at, 0
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '(', '[':
			open++
		case ')', ']':
			open--
		}
		if open < 0 {
			return regexbound.Compile(p.text[from:p.at])
		}
	}
	return nil, p.fail("the end of the regular expression")
}

// attribute reads a selector of an attribute.
func (p *parser) attribute(s *step) error {
	from := p.at
	p.at++
	p.space()
	key := p.at
	if err := p.name(); err != nil {
		return err
	}
	name := p.text[key:p.at]
	p.space()
	if p.take(']') {
		return p.alone(s, from)
	}
	is := strings.HasPrefix(p.rest(), "#=")
	if !p.take('=') {
		p.at += 2
	}
	p.space()
	if is {
		re, err := p.regex()
		if err != nil {
			return err
		}
		end := strings.IndexByte(p.rest(), ']')
		if end < 0 {
			return p.fail("]")
		}
		p.at += end + 1
		return p.attributeRegex(s, name, re)
	}
	if _, err := p.value(); err != nil {
		return err
	}
	p.space()
	if !p.take('i') {
		p.take('I')
	}
	p.space()
	if !p.take(']') {
		return p.fail("]")
	}
	return p.alone(s, from)
}

// attributeRegex adds that an attribute matches a regular expression. The name is
// as it is written.
func (p *parser) attributeRegex(s *step, name string, re *regexbound.Regexp) error {
	q := &parser{text: name}
	name, err := q.value()
	if err != nil {
		return err
	}
	s.simple = append(s.simple, attributeMatches{lower(name), re})
	return nil
}

// lower is s with the capital letters of ASCII as small ones.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
