package css

import (
	"errors"
	"fmt"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"seine/internal/base/regexbound"
)

// Selector is a compiled group of selectors. It is safe for concurrent use.
type Selector struct {
	group  group
	tables int // number of tables that a matcher needs
}

// errEscaped is returned for a pseudo-class that is written with an escape.
var errEscaped = errors.New("escapes in the name of a pseudo-class are not supported")

// Compile compiles a group of selectors. It has the syntax and the errors of cascadia.
func Compile(text string) (*Selector, error) {
	if _, err := cascadia.ParseGroup(text); err != nil {
		return nil, err
	}
	p := &parser{text: text}
	g := p.group()
	if p.err == nil && p.at < len(text) {
		p.err = fmt.Errorf("css %q: unexpected byte %d", text, p.at)
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Selector{group: g, tables: p.tables}, nil
}

// group is a list of selectors, one of which must match.
type group []*step

// step is a compound selector, and the selector to the left of its combinator.
type step struct {
	alone cascadia.Sel // parts that need only the element itself; may be nil
	tests []test       // other parts
	by    byte         // combinator, 0 if nothing is to the left
	left  *step
	table int // index of the table with the results of left
}

// parser splits a valid selector at the parts that cascadia does not evaluate in linear time:
// combinators and some pseudo-classes. It passes the rest to cascadia as text.
type parser struct {
	text   string
	at     int
	tables int
	err    error
}

// table returns the number of a new table.
func (p *parser) table() int {
	p.tables++
	return p.tables - 1
}

// next returns the next byte, 0 at the end.
func (p *parser) next() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// space skips white space and comments, and reports whether there were any.
func (p *parser) space() bool {
	from := p.at
	for {
		rest := p.text[p.at:]
		trimmed := strings.TrimLeft(rest, " \t\r\n\f")
		p.at += len(rest) - len(trimmed)
		comment, begins := strings.CutPrefix(trimmed, "/*")
		end := strings.Index(comment, "*/")
		if !begins || end < 0 {
			return p.at > from
		}
		p.at += len("/*") + end + len("*/")
	}
}

func (p *parser) group() group {
	g := group{p.selector()}
	for p.next() == ',' {
		p.at++
		g = append(g, p.selector())
	}
	return g
}

func (p *parser) selector() *step {
	p.space()
	s := p.compound()
	for p.err == nil {
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
			return s
		}
		if by == 0 {
			return s
		}
		right := p.compound()
		right.by, right.left, right.table = by, s, p.table()
		s = right
	}
	return s
}

// compound reads a compound selector.
func (p *parser) compound() *step {
	s, from := new(step), p.at
	p.name()
	alone := p.text[from:p.at]
	for p.nextIn("*|") { // the universal selector
		p.at++
	}
	for p.err == nil {
		from := p.at
		var made test
		switch p.next() {
		case '#', '.':
			p.at++
			p.name()
		case '[':
			made = p.attribute()
		case ':':
			made = p.pseudo()
		default:
			if alone != "" || len(s.tests) == 0 {
				s.alone = p.parse(alone)
			}
			return s
		}
		if made == nil {
			alone += p.text[from:p.at]
		} else {
			s.tests = append(s.tests, made)
		}
	}
	return s
}

// parse returns cascadia's selector for parts of a compound selector.
func (p *parser) parse(text string) cascadia.Sel {
	if text == "" {
		text = "*"
	}
	s, err := cascadia.Parse(text)
	if err != nil && p.err == nil {
		p.err = err
	}
	return s
}

// name skips a name.
func (p *parser) name() {
	for isName(p.next()) || p.next() == '\\' {
		if p.next() == '\\' {
			p.escape()
		} else {
			p.at++
		}
	}
}

func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c > 127
}

// escape skips an escape, including a white space after hexadecimal digits.
func (p *parser) escape() {
	p.at++
	from := p.at
	for p.at < from+6 && p.nextIn("0123456789abcdefABCDEF") {
		p.at++
	}
	switch {
	case p.at == from:
		p.at = min(p.at+1, len(p.text))
	case strings.HasPrefix(p.text[p.at:], "\r\n"):
		p.at += len("\r\n")
	case p.nextIn(" \t\r\n\f"):
		p.at++
	}
}

func (p *parser) nextIn(set string) bool {
	return p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0
}

// to skips past the byte that closes a bracket.
func (p *parser) to(closing byte) {
	quote := byte(0)
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\':
			p.at++
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == closing:
			p.at++
			return
		}
	}
}

// regex returns a regular expression, which ends before a closing bracket that it has not opened.
// It skips that bracket.
func (p *parser) regex(closing byte) *regexbound.Regexp {
	from, open := p.at, 0
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '(', '[':
			open++
		case ')', ']':
			open--
		}
		if open < 0 {
			break
		}
	}
	re, err := regexbound.Compile(p.text[from:p.at])
	if err != nil && p.err == nil {
		p.err = err
	}
	p.to(closing)
	return re
}

// attribute reads an attribute selector. It returns a test only for regular expressions.
func (p *parser) attribute() test {
	p.at++
	p.space()
	from := p.at
	p.name()
	name := p.text[from:p.at]
	p.space()
	if !strings.HasPrefix(p.text[p.at:], "#=") {
		p.to(']')
		return nil
	}
	p.at += len("#=")
	p.space()
	has := p.parse("[" + name + "]")
	return attributeMatches(strings.Trim(fmt.Sprint(has), "[]"), p.regex(']'))
}

// pseudo reads a pseudo-class. It returns nil for one that needs only the element itself.
func (p *parser) pseudo() test {
	from := p.at
	p.at++
	p.name()
	name := strings.ToLower(p.text[from+1 : p.at])
	if strings.Contains(name, `\`) {
		p.err = errEscaped
	}
	if p.next() == '(' {
		p.at++
		p.space()
		if made := p.relative(name); made != nil {
			return made
		}
		p.to(')')
	}
	if p.err != nil {
		return nil
	}
	return p.test(name, p.parse(p.text[from:p.at]).String())
}

// relative reads a pseudo-class whose argument is a group of selectors or a regular expression.
func (p *parser) relative(name string) test {
	switch name {
	case "matches", "matchesown":
		return matches(p.regex(')'), name == "matchesown")
	case "not", "has", "haschild":
		g := p.group()
		p.at++
		switch name {
		case "not":
			return not(g)
		case "has":
			return has(g, p.table())
		}
		return hasChild(g)
	}
	return nil
}

// Selectors of the conditions that disable a form control (HTML standard section 4.10.19.5).
// :not(:not()) is what other dialects call :is().
const (
	controls = "button, input, select, textarea, option"
	fieldset = "fieldset[disabled] > :not(legend), fieldset[disabled] > :not(legend) *, " +
		"fieldset[disabled] > legend ~ legend, fieldset[disabled] > legend ~ legend *"
	isDisabled = ":not(:not(optgroup, menuitem, fieldset, " + controls + "))[disabled], :not(:not(" + controls + ")):not(:not(" + fieldset + "))"
	isEnabled  = "a[href], area[href], link[href], :not(:not(optgroup, menuitem, fieldset, " + controls + ")):not(" + isDisabled + ")"
)

// test returns the test of any other pseudo-class, as cascadia writes it.
func (p *parser) test(name, written string) test {
	switch name {
	case "enabled":
		return p.either(isEnabled)
	case "disabled":
		return p.either(isDisabled)
	case "only-child":
		return p.either(":first-child:last-child")
	case "only-of-type":
		return p.either(":first-of-type:last-of-type")
	case "contains", "containsown":
		_, text, _ := strings.Cut(written, `("`)
		return contains(strings.TrimSuffix(text, `")`), name == "containsown")
	case "lang":
		return lang(strings.TrimSuffix(strings.TrimPrefix(written, ":lang("), ")"), p.table())
	}
	if !strings.HasSuffix(name, "-child") && !strings.HasSuffix(name, "-of-type") {
		return nil
	}
	_, position, _ := strings.Cut(written, "(")
	a, b := 0, 1
	if _, err := fmt.Sscanf(position, "%dn%d)", &a, &b); err != nil && position != "" {
		p.err = err
	}
	return nth(a, b, strings.Contains(name, "last-"), strings.HasSuffix(name, "-of-type"))
}

// either returns the test of a group of selectors that replaces a pseudo-class.
func (p *parser) either(text string) test {
	q := &parser{text: text, tables: p.tables}
	g := q.group()
	p.tables = q.tables
	return func(m *Matcher, n *html.Node) bool { return m.any(g, n) }
}
