package robots

import (
	"bytes"
	"slices"
	"strings"
)

// MaxBytes is how much of a file is read. RFC 9309 section 2.5 requires a
// crawler to read at least 500 kibibytes, and lets it stop there.
const MaxBytes = 500 * 1024

const (
	lineEnds   = "\r\n"
	whitespace = " \t\v\f"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Parse reads a robots.txt. It never fails: a line that means nothing is
// skipped and the others count, RFC 9309 section 2.2. What lies beyond
// [MaxBytes] is ignored together with the line that crosses it. The body is not
// kept.
func Parse(body []byte) *File {
	p := parser{file: &File{groups: map[string]*Group{}}}
	body = bytes.TrimPrefix(cut(body), byteOrderMark)
	for len(body) > 0 {
		end := bytes.IndexAny(body, lineEnds)
		if end < 0 {
			end = len(body)
		}
		p.line(body[:end])
		body = body[min(end+1, len(body)):]
	}
	p.finish()
	return p.file
}

// cut returns the whole lines among the first MaxBytes.
func cut(body []byte) []byte {
	if len(body) <= MaxBytes {
		return body
	}
	head, next := body[:MaxBytes], body[MaxBytes]
	if strings.IndexByte(lineEnds, next) >= 0 {
		return head
	}
	return head[:bytes.LastIndexAny(head, lineEnds)+1]
}

// parser holds the section that lines belong to.
type parser struct {
	file     *File
	sections []*section
	// open is the section that rules go to, nil before the first User-agent.
	open *section
	// naming is true until the first rule of open: more User-agent lines then
	// join the section instead of starting the next, RFC 9309 section 2.1.
	naming bool
}

// line reads one record. Only rules end a list of agents: by RFC 9309 section
// 2.2.4 other records, Crawl-delay among them, must not affect grouping.
func (p *parser) line(line []byte) {
	text, _, _ := bytes.Cut(line, []byte{'#'})
	key, value := record(text)
	switch {
	case is(key, "disallow"):
		p.rule(string(value), false)
	case is(key, "allow"):
		p.rule(string(value), true)
	case is(key, "user-agent"):
		p.agent(string(value))
	case is(key, "crawl-delay"):
		p.delay(string(value))
	case is(key, "sitemap"):
		p.sitemap(string(value))
	}
}

// record cuts a line into key and value. Some forget the colon: then two words are a
// record, as Google's parser has it (GetKeyAndValueFrom of robots.cc), since what was
// meant to be forbidden should be. Any other line has no key.
func record(text []byte) (key, value []byte) {
	key, value, ok := bytes.Cut(text, []byte{':'})
	if ok {
		return bytes.Trim(key, whitespace), bytes.Trim(value, whitespace)
	}
	words := bytes.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(whitespace, r) })
	if len(words) != 2 {
		return nil, nil
	}
	return words[0], words[1]
}

// is compares the key of a record without case.
func is(key []byte, name string) bool {
	return len(key) == len(name) && strings.EqualFold(string(key), name)
}

// agent starts a section or names one more agent for it. A name without product
// token still starts a section, for nobody, lest its rules fall to the one before.
func (p *parser) agent(name string) {
	if !p.naming {
		p.open, p.naming = &section{}, true
		p.sections = append(p.sections, p.open)
	}
	if token := productToken(name); token != "" {
		p.join(token)
	}
}

// join adds the open section to the group of an agent, once.
func (p *parser) join(token string) {
	g := p.file.groups[token]
	if g == nil {
		g = &Group{}
		p.file.groups[token] = g
	}
	if n := len(g.sections); n == 0 || g.sections[n-1] != p.open {
		g.sections = append(g.sections, p.open)
	}
}

// rule adds a rule to the open section. An empty path adds none, which allows.
func (p *parser) rule(path string, allow bool) {
	if p.open == nil {
		return
	}
	p.naming = false
	p.open.rules = appendRules(p.open.rules, path, allow)
}

func (p *parser) delay(value string) {
	d, ok := parseDelay(value)
	if !ok || p.open == nil {
		return
	}
	p.open.delay = max(p.open.delay, d)
	p.open.hasDelay = true
}

func (p *parser) sitemap(value string) {
	if value != "" {
		p.file.sitemaps = append(p.file.sitemaps, value)
	}
}

// finish brings the sections into the order that matching needs, and
// drops repeated sitemaps.
func (p *parser) finish() {
	for _, s := range p.sections {
		s.rules = rank(s.rules)
	}
	seen := map[string]bool{}
	p.file.sitemaps = slices.DeleteFunc(p.file.sitemaps, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

// productToken returns the leading product token of a User-agent value in lower
// case: letters, "_" and "-", RFC 9309 section 2.2.1, so that "Googlebot/2.1"
// and "ExampleBot images" yield "googlebot" and "examplebot". A star standing
// alone is the token for all. The result is empty if there is none.
func productToken(s string) string {
	if words := strings.Fields(s); len(words) > 0 && words[0] == anyAgent {
		return anyAgent
	}
	end := strings.IndexFunc(s, func(r rune) bool { return !isTokenRune(r) })
	if end >= 0 {
		s = s[:end]
	}
	return strings.ToLower(s)
}

func isTokenRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '-'
}
