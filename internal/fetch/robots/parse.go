package robots

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"

	"seine/internal/base/lazyregexp"
	"seine/internal/base/suggest"
)

// MaxBytes limits how much of a file is read. RFC 9309 section 2.5 requires a crawler to read at
// least 500 kibibytes, and allows it to stop there.
const MaxBytes = 500 * 1024

const (
	lineEnds   = "\r\n"
	whitespace = " \t\v\f"
)

// markup matches the tags that some servers put around a file.
var markup = lazyregexp.New(`(?i)</?(?:!doctype|html|head|title|meta|body|pre|code|p|br|div|span|font)(?:[\s/][^<>]*)?>|<!--|-->`)

// maxNotes limits the notes of a file.
const maxNotes = 10

// Parse parses a robots.txt. It never fails: it skips meaningless lines and applies the others, RFC
// 9309 section 2.2. It ignores the content beyond [MaxBytes] together with the line that crosses
// it. It does not keep the body.
func Parse(body []byte) *File {
	p := parser{file: &File{groups: map[string]*Group{}}}
	text := strings.TrimPrefix(markup().ReplaceAllLiteralString(string(fromUTF16(cut(body))), "\n"), "\ufeff")
	for text != "" {
		end := strings.IndexAny(text, lineEnds)
		if end < 0 {
			end = len(text)
		}
		p.line(text[:end])
		text = text[min(end+1, len(text)):]
	}
	p.finish()
	return p.file
}

// fromUTF16 decodes UTF-16, with or without a byte order mark.
func fromUTF16(body []byte) []byte {
	if len(body) < 2 || bytes.IndexByte(body, 0) < 0 || (body[0] == 0) == (body[1] == 0) && body[0] < 0xfe {
		return body
	}
	order := unicode.LittleEndian // without a mark
	if body[0] == 0 {
		order = unicode.BigEndian
	}
	decoded, _ := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(body) // replaces undecodable bytes
	return decoded
}

// cut returns the complete lines among the first MaxBytes.
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

// line parses a line: one record, or several whose line ends were lost.
func (p *parser) line(line string) {
	text, _, _ := strings.Cut(line, "#")
	for {
		value := strings.IndexByte(text, ':') + 1
		next := joined().FindStringSubmatchIndex(text[value:])
		if value == 0 || next == nil {
			p.record(text)
			return
		}
		p.note(text, "read as several lines")
		p.record(text[:value+next[0]])
		text = text[value+next[2]:]
	}
}

// record parses one record. Only rules end a list of agents: by RFC 9309 section 2.2.4 other
// records, Crawl-delay among them, must not affect grouping.
func (p *parser) record(text string) {
	r, read := readRecord(text), true
	switch r.field {
	case "disallow", "allow":
		read = p.rule(r.value, r.field == "allow")
	case "user-agent":
		p.agent(r.value)
	case "crawl-delay":
		read = p.delay(parseDelay(r.value))
	case "request-rate":
		read = p.delay(parseRate(r.value))
	case "sitemap":
		p.sitemaps(r.value)
	default:
		name, _, colon := strings.Cut(text, ":")
		read = colon && suggest.Name(letters(name), fieldNames) == "" || strings.TrimFunc(text, isInvisible) == ""
	}
	switch {
	case !read:
		p.note(text, "not read")
	case r.field != "" && !r.exact:
		p.note(text, "read as "+r.field)
	}
}

// note adds a note on a line that does not have the form of RFC 9309.
func (p *parser) note(line, what string) {
	if len(p.file.notes) < maxNotes {
		p.file.notes = append(p.file.notes, fmt.Sprintf("%.80q: %s", line, what))
	}
}

// agent starts a section or adds an agent to it. A name without a product token also starts a
// section, for no crawler, so that its rules do not belong to the previous one.
func (p *parser) agent(name string) {
	if !p.naming {
		p.open, p.naming = &section{}, true
		p.sections = append(p.sections, p.open)
	}
	name, _, _ = strings.Cut(name, "(") // a comment of RFC 9110 section 5.6.5
	for product := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(",;|", r) }) {
		if token := productToken(strings.TrimSpace(product)); token != "" {
			p.join(token)
		}
	}
}

// join adds the open section to the group of an agent, if it is not there.
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

// rule adds a rule to the open section, and reports whether there is one. An empty path adds none,
// which allows. RFC 9309 does not allow spaces in a path: a Disallow with several paths forbids
// each of them, too.
func (p *parser) rule(value string, allow bool) bool {
	if p.open == nil {
		return false
	}
	p.naming = false
	p.open.rules = appendRules(p.open.rules, value, allow)
	if paths := strings.Fields(value); !allow && len(paths) > 1 && slices.ContainsFunc(paths[1:], startsMore) {
		for _, path := range paths {
			if strings.HasPrefix(path, "//") || path == "/*" || path[0] == ';' {
				break // a comment, as other languages write it
			}
			p.open.rules = appendRules(p.open.rules, strings.TrimRight(path, ",;"), allow)
		}
	}
	return true
}

// startsMore reports whether a word after a path is another path, or a comment.
func startsMore(word string) bool { return word[0] == '/' || word[0] == ';' }

// delay adds a delay to the open section. It returns ok, which reports whether the delay could be
// parsed.
func (p *parser) delay(d time.Duration, ok bool) bool {
	if ok && p.open != nil {
		p.open.delay = max(p.open.delay, d)
		p.open.hasDelay = true
	}
	return ok
}

// sitemaps adds the URLs of a Sitemap line.
func (p *parser) sitemaps(value string) {
	for url := range strings.FieldsSeq(value) {
		p.file.sitemaps = append(p.file.sitemaps, strings.TrimRight(url, ","))
	}
}

// finish sorts the rules of each section for matching, and drops duplicate sitemaps.
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
// and "ExampleBot images" yield "googlebot" and "examplebot". A word of stars, or
// one such as "all", is the token for all. The result is empty if there is none.
func productToken(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return ""
	}
	switch word := strings.ToLower(words[0]); {
	case strings.Trim(word, "*.＊") == "", word == "all", word == "any", word == "everyone":
		return anyAgent
	}
	s = strings.TrimLeft(words[0], "*")
	if end := strings.IndexFunc(s, func(r rune) bool { return !isTokenRune(r) }); end >= 0 {
		s = s[:end]
	}
	return strings.ToLower(s)
}

func isTokenRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '-'
}
