package output

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Path is a template for the folders of chunks, below that of the output. The
// name of a chunk in its folder is always its commit's: that is how a crash is
// recovered from.
type Path struct {
	template string
	parts    []string // texts, and names in braces
	// ByKind is whether records of several kinds are never in one chunk.
	ByKind bool
}

var pathSegment = regexp.MustCompile(`^(?:[A-Za-z0-9]|\{[a-z]+\})(?:[A-Za-z0-9=._-]|\{[a-z]+\})*$`)

var (
	pathPart  = regexp.MustCompile(`\{[a-z]+\}|[^{]+`)
	pathNames = []string{"{crawl}", "{kind}", "{date}", "{partition}"}
)

// ParsePath reads a template such as "{crawl}/{kind}/dt={date}".
func ParsePath(template string) (Path, error) {
	p := Path{template: strings.Trim(template, "/")}
	for segment := range strings.SplitSeq(p.template, "/") {
		if !pathSegment.MatchString(segment) {
			return p, fmt.Errorf("%q: each folder must be of a-z, A-Z, 0-9, '=', '.', '_', '-' and {names}, and begin with a letter, a digit or a {name}", template)
		}
	}
	p.parts = pathPart.FindAllString(p.template, -1)
	for _, part := range p.parts {
		if part[0] == '{' && !slices.Contains(pathNames, part) {
			return p, fmt.Errorf("%q: it can have {crawl}, {kind}, {date} and {partition}, nothing else in braces", template)
		}
	}
	if !slices.Contains(p.parts, "{crawl}") {
		return p, fmt.Errorf("%q: must have {crawl} in it, or the files of several crawls would have one name", template)
	}
	p.ByKind = slices.Contains(p.parts, "{kind}")
	return p, nil
}

// Group returns the group of a record: {date} is the day, in UTC, on which the
// stream stored it.
func (p Path) Group(crawl, kind string, partition int, stored time.Time) Group {
	var dir strings.Builder
	for _, part := range p.parts {
		switch part {
		case "{crawl}":
			dir.WriteString(crawl)
		case "{kind}":
			dir.WriteString(kind)
		case "{partition}":
			fmt.Fprintf(&dir, "%03d", partition)
		case "{date}":
			dir.WriteString(stored.UTC().Format(time.DateOnly))
		default:
			dir.WriteString(part)
		}
	}
	g := Group{Crawl: crawl, Dir: path.Clean(dir.String())}
	if p.ByKind {
		g.Kind = kind
	}
	return g
}

// String returns the template.
func (p Path) String() string { return p.template }
