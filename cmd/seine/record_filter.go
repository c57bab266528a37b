package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// namesSeen are the crawls of records, and the kinds of those of the crawl that is asked for.
type namesSeen struct {
	crawls, kinds map[string]bool
	any           bool
}

// mostNames bounds them: files that are no output may have a name in each line.
const mostNames = 1000

func (m *namesSeen) add(crawl, kind string, asked *recordFilter) {
	m.any, m.crawls = true, withName(m.crawls, crawl, asked.crawl)
	if asked.crawl == "" || crawl == asked.crawl {
		m.kinds = withName(m.kinds, kind, asked.kind)
	}
}

// withName adds a name to a set; it takes one that is asked for however many there are.
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

// check returns an error for a selected crawl or kind without records, unless there are no records at all. Every crawl
// can have pages and visits: there may just be none.
func (m *namesSeen) check(crawl, kind string) error {
	always := []string{messages.KindPage, messages.KindGone, messages.KindVisit}
	switch {
	case !m.any:
	case crawl != "" && !m.crawls[crawl]:
		return usageError{fmt.Errorf("--crawl %s: no record is of it; %s", crawl, listedIn(crawl, m.crawls))}
	case kind != "" && !m.kinds[kind] && !slices.Contains(always, kind):
		return usageError{fmt.Errorf("--kind %s: no record is of it; %s", kind, listedIn(kind, m.kinds))}
	}
	return nil
}

func listedIn(name string, set map[string]bool) string {
	if len(set) == 0 {
		return "none exist"
	}
	return listed(name, slices.Sorted(maps.Keys(set)))
}

// recordFilter passes on those records, a line of JSON each, that are asked for.
type recordFilter struct {
	crawl, kind string
	met         namesSeen
	// crawlOfPlace is the crawl that the place of the lines is of, "" if nobody knows: records
	// need not say it.
	crawlOfPlace string
	// takesBeside is set to take records outside of the selected folder too. Their kinds do not count as met.
	takesBeside, tookBeside, beside bool

	pass func(crawl, kind string, line []byte) error
	line []byte // the beginning of one whose end has not come
}

// Write implements io.Writer.
func (s *recordFilter) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if s.line = append(s.line, line...); !whole {
			break
		}
		if err := s.take(s.line); err != nil {
			return 0, err
		}
		s.line = s.line[:0]
	}
	return len(text), nil
}

func (s *recordFilter) take(line []byte) error {
	var r struct {
		Crawl string `json:"crawl"`
	}
	_ = jsontext.Unmarshal(line, &r) // one that is none is of no crawl
	if s.crawlOfPlace != "" {
		r.Crawl = s.crawlOfPlace
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
