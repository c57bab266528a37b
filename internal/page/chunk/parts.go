package chunk

import (
	"strings"

	"seine/internal/base/lazyregexp"
)

var headingLine = lazyregexp.New(`^(#{1,6})[ \t]+(.*?)[ \t#]*\r?\n?$`)

// PartsOf returns the sections of a Markdown text. A text without headings is one section.
func PartsOf(markdown string) []Part {
	var headings [6]string
	parts := []Part{{}}
	begin, at := 0, 0
	for line, inCode := range linesOf(markdown) {
		if m := headingLine().FindStringSubmatch(line); m != nil && !inCode {
			parts[len(parts)-1].Markdown = markdown[begin:at]
			level := len(m[1])
			headings[level-1] = m[2]
			clear(headings[level:])
			parts, begin = append(parts, Part{Level: level, Breadcrumb: breadcrumb(headings[:level])}), at
		}
		at += len(line)
	}
	parts[len(parts)-1].Markdown = markdown[begin:]
	if clean(parts[0].Markdown) == "" {
		parts = parts[1:]
	}
	return parts
}

func breadcrumb(headings []string) string {
	var all []string
	for _, h := range headings {
		if h != "" {
			all = append(all, h)
		}
	}
	return strings.Join(all, " > ")
}

// Title returns the first heading of a Markdown text.
func Title(markdown string) string {
	for line, inCode := range linesOf(markdown) {
		if m := headingLine().FindStringSubmatch(line); m != nil && !inCode {
			return m[2]
		}
	}
	return ""
}
