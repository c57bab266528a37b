package main

import (
	"bytes"
	"io"

	"seine/internal/base/jsontext"
	"seine/pkg/messages"
)

// sieve passes on those records, a line of JSON each, that are asked for.
type sieve struct {
	crawl, kind string
	latest      *latest // nil if all records are wanted, not the latest alone

	beside bool // the lines are in no order with others
	// fileCrawl is the crawl of the file that the lines are of, "" if nobody knows: records
	// need not say it.
	fileCrawl string

	to   io.Writer
	line []byte // the beginning of one whose end has not come
	n    int    // lines so far
}

// Write implements io.Writer.
func (s *sieve) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if s.line = append(s.line, line...); !whole {
			break
		}
		s.line = append(s.line, '\n')
		if err := s.pass(s.line); err != nil {
			return 0, err
		}
		s.line = s.line[:0]
	}
	return len(text), nil
}

// again takes the same lines once more, for the next look. What was added in between is
// not passed on.
func (s *sieve) again() {
	s.n, s.line = 0, s.line[:0]
	s.latest.next()
}

func (s *sieve) pass(line []byte) error {
	var r struct {
		Crawl      string `json:"crawl"`
		URL        string `json:"url"`
		Key        string `json:"key"`
		FetchedAt  string `json:"fetched_at"`
		Visit      string `json:"visit"`
		Generation string `json:"generation"`
	}
	if !s.beside {
		s.n++
	}
	_ = jsontext.Unmarshal(line, &r) // one that is none is of no crawl
	if s.fileCrawl != "" {
		r.Crawl = s.fileCrawl
	}
	kind := messages.RecordKind(nil, line)
	if s.crawl != "" && r.Crawl != s.crawl {
		return nil
	}
	if s.latest != nil {
		is := identified{
			crawl: r.Crawl, kind: kind, url: r.URL, key: r.Key, visit: r.Visit, generation: r.Generation, made: momentOf(r.FetchedAt, s.n),
		}
		if s.latest.learn(&is) || !s.latest.has(&is) {
			return nil
		}
	} else if s.kind != "" && kind != s.kind {
		return nil
	}
	_, err := s.to.Write(line)
	return err
}
