package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Path is a template for the folders of chunks, relative to the output. The name of a chunk in its
// folder is always its commit's, which crash recovery needs.
type Path struct {
	template
	// ByKind is whether records of different kinds are always in different chunks.
	ByKind bool
}

// noValue replaces a value that a record lacks.
const noValue = "none"

// pathNames are the placeholders that the template of a path can have, besides {field:NAME}.
var pathNames = []string{"crawl", "kind", "date", "hour", "run", "partition", "host"}

// ParsePath parses a template such as "{crawl}/{kind}/dt={date}".
func ParsePath(text string) (Path, error) {
	t, err := parseTemplate(text, pathNames)
	if err != nil {
		return Path{}, err
	}
	if !t.has("crawl") {
		return Path{}, fmt.Errorf("%q: must have {crawl} in it, or the files of several crawls would have one name", text)
	}
	return Path{t, t.has("kind")}, nil
}

// FoldCase returns the path for a destination that treats "A" and "a" as one name: it escapes
// capitals in values.
func (p Path) FoldCase() Path {
	p.foldCase = true
	return p
}

// Group returns the group of a record. A missing value becomes "none". If the path would be too
// long, the folder is CRAWL/none-KIND.
func (p Path) Group(r *KeyRecord) Group {
	dir, err := p.expand(r, func(error) (string, error) { return noValue, nil })
	if err != nil {
		dir = r.Crawl + "/" + noValue + "-" + r.Kind
	}
	g := Group{Crawl: r.Crawl, Dir: dir}
	if p.ByKind {
		g.Kind = r.Kind
	}
	return g
}

// template is a path of folders and a name, with placeholders for values of a record.
type template struct {
	text     string
	segments [][]keyPart
	foldCase bool
}

// parseTemplate parses a template that can have these placeholders and {field:NAME}.
func parseTemplate(text string, names []string) (template, error) {
	t := template{text: strings.Trim(text, "/")}
	for _, segment := range segmentsOf(t.text) {
		parts, err := parseSegment(segment, names)
		if err != nil {
			return t, fmt.Errorf("%q: %w", text, err)
		}
		t.segments = append(t.segments, parts)
	}
	return t, nil
}

// segmentsOf splits a template at its slashes, except those in braces, which occur in time zones.
func segmentsOf(text string) (all []string) {
	begin, inside := 0, false
	for i, c := range text {
		switch {
		case c == '{' || c == '}':
			inside = c == '{'
		case c == '/' && !inside:
			all, begin = append(all, text[begin:i]), i+1
		}
	}
	return append(all, text[begin:])
}

func parseSegment(segment string, names []string) ([]keyPart, error) {
	if !keyStart().MatchString(segment) {
		return nil, errors.New("each folder and the name must begin with a letter, a digit or a {name}")
	}
	var parts []keyPart
	at := 0
	for _, m := range keyToken().FindAllStringSubmatchIndex(segment, -1) {
		if m[0] != at {
			break
		}
		at = m[1]
		if m[2] < 0 {
			parts = append(parts, keyPart{text: segment[m[0]:m[1]]})
			continue
		}
		p := keyPart{name: segment[m[2]:m[3]], zone: time.UTC}
		if m[4] >= 0 {
			p.arg = segment[m[4]:m[5]]
		}
		if p.arg != "" && (p.name == "date" || p.name == "hour") {
			var err error
			if p.zone, err = time.LoadLocation(p.arg); err != nil || p.zone == time.Local {
				return nil, fmt.Errorf("{%s:%s}: must be a time zone by its IANA name, such as Europe/Paris", p.name, p.arg)
			}
			p.arg = ""
		}
		if isField := p.name == "field"; isField != (p.arg != "") || !isField && !slices.Contains(names, p.name) {
			return nil, fmt.Errorf("it can have {%s}, {field:NAME}, {date:ZONE} and {hour:ZONE}, nothing else in braces", strings.Join(names, "}, {"))
		}
		parts = append(parts, p)
	}
	if at != len(segment) {
		return nil, fmt.Errorf("%q: folders and names may contain only a-z, A-Z, 0-9, '=', '.', '_', '-' and {names}", segment)
	}
	return parts, nil
}

// has reports whether the template has a placeholder.
func (t template) has(name string) bool {
	return slices.ContainsFunc(t.segments, func(parts []keyPart) bool {
		return slices.ContainsFunc(parts, func(p keyPart) bool { return p.name == name })
	})
}

// String returns the template.
func (t template) String() string { return t.text }

// expand inserts the values of a record. It calls lacking for each value that the record lacks.
func (t template) expand(r *KeyRecord, lacking func(error) (string, error)) (string, error) {
	v := keyValues{KeyRecord: r}
	var segments []string
	for _, parts := range t.segments {
		var b strings.Builder
		for i, p := range parts {
			if p.name == "" {
				b.WriteString(p.text)
				continue
			}
			value, err := v.get(p)
			if err != nil {
				value, err = lacking(err)
			}
			if err != nil {
				return "", err
			}
			if p.name == placePath {
				b.WriteString(escapePath(value, textAfter(parts[i:]), t.foldCase))
			} else {
				b.WriteString(escapeValue(value, t.foldCase))
			}
		}
		for s := range strings.SplitSeq(b.String(), "/") {
			segments = append(segments, escapeSegment(s))
		}
	}
	for _, s := range segments {
		if len(s) > maxSegment {
			return "", fmt.Errorf("a directory or name has %d bytes, at most %d are allowed", len(s), maxSegment)
		}
	}
	p := strings.Join(segments, "/")
	if len(p) > maxKey {
		return "", fmt.Errorf("the path has %d bytes, at most %d are allowed", len(p), maxKey)
	}
	return p, nil
}
