package main

import (
	"fmt"
	"maps"
	"slices"

	"seine/internal/base/jsontext"
	"seine/internal/output"
	"seine/pkg/messages"
)

// namesSeen holds the crawls of records, and the kinds of records of the selected crawl.
type namesSeen struct {
	crawls, kinds map[string]bool
	any           bool
}

// mostNames limits each set: files that are not outputs may have a new name in each line.
const mostNames = 1000

func (m *namesSeen) add(crawl, kind string, asked *recordFilter) {
	m.any, m.crawls = true, withName(m.crawls, crawl, asked.crawl)
	if asked.crawl == "" || crawl == asked.crawl {
		m.kinds = withName(m.kinds, kind, asked.kind)
	}
}

// withName adds a name to a set. It adds the requested name even to a full set.
func withName(set map[string]bool, name, asked string) map[string]bool {
	if name == "" || set[name] || len(set) >= mostNames && name != asked {
		return set
	}
	if set == nil {
		set = make(map[string]bool)
	}
	set[name] = true
	return set
}

// check returns an error for a selected crawl or kind without records, unless there are no records
// at all. Any crawl can have pages, gone pages and visits, so their absence is not an error.
func (m *namesSeen) check(crawl, kind string) error {
	always := []string{messages.KindPage, messages.KindGone, messages.KindVisit}
	switch {
	case !m.any:
	case crawl != "" && !m.crawls[crawl]:
		return usageError{fmt.Errorf("--crawl %s: has no records; %s", crawl, listedIn(crawl, m.crawls))}
	case kind != "" && !m.kinds[kind] && !slices.Contains(always, kind):
		return usageError{fmt.Errorf("--kind %s: has no records; %s", kind, listedIn(kind, m.kinds))}
	}
	return nil
}

func listedIn(name string, set map[string]bool) string {
	if len(set) == 0 {
		return "none exist"
	}
	return listed(name, slices.Sorted(maps.Keys(set)))
}

// recordFilter passes on the selected records, each a line of JSON.
type recordFilter struct {
	all         bool // any crawl and kind, without telling them apart
	crawl, kind string
	met         namesSeen
	// takesBeside is set to take records outside the selected folder too. Their kinds do not count
	// as met.
	takesBeside, tookBeside, beside bool

	pass func(crawl, kind string, line []byte) error
}

// takesFrom reports whether the records of a file are taken. outside says that the file is outside
// the selected folder.
func (s *recordFilter) takesFrom(f *output.File, outside bool) bool {
	if s.crawl != "" && f.Crawl != "" && f.Crawl != s.crawl {
		s.met.add(f.Crawl, f.Kind, s)
		return false
	}
	s.beside = outside
	s.tookBeside = s.tookBeside || outside
	return !outside || s.takesBeside
}

// take passes on a selected record. crawl is the crawl of its file, "" if unknown: records may lack
// it.
func (s *recordFilter) take(crawl string, line []byte) error {
	if s.all {
		return s.pass(crawl, "", line)
	}
	var r struct {
		Crawl string `json:"crawl"`
	}
	_ = jsontext.Unmarshal(line, &r) // an invalid line belongs to no crawl
	if crawl != "" {
		r.Crawl = crawl
	}
	kind := messages.RecordKind(nil, line)
	if !s.beside {
		s.met.add(r.Crawl, kind, s)
	}
	if s.crawl != "" && r.Crawl != s.crawl || s.kind != "" && kind != s.kind {
		return nil
	}
	return s.pass(r.Crawl, kind, line)
}
