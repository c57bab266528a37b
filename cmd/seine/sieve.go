package main

import (
	"bytes"
	"crypto/sha256"
	"io"

	"seine/internal/jsontext"
	"seine/pkg/messages"
)

// sieve passes on those records, a line of JSON each, that are asked for.
type sieve struct {
	crawl, kind string
	// newest is the place of the last record of each identity, nil if all records
	// are wanted. It has 40 bytes for each.
	newest   map[[sha256.Size]byte]int
	counting bool // newest is being made, and nothing is passed on

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

// again takes the same lines once more, to pass on those that are the newest.
// What was added in between is not.
func (s *sieve) again() { s.n, s.line, s.counting = 0, s.line[:0], false }

func (s *sieve) pass(line []byte) error {
	var r struct {
		Crawl string `json:"crawl"`
		URL   string `json:"url"`
		Key   string `json:"key"`
	}
	s.n++
	_ = jsontext.Unmarshal(line, &r) // one that is none is of no crawl
	kind := messages.RecordKind(nil, line)
	if s.crawl != "" && r.Crawl != s.crawl || s.kind != "" && kind != s.kind {
		return nil
	}
	if s.newest != nil {
		if r.Key == "" {
			r.Key = r.URL
		}
		id := sha256.Sum256([]byte(r.Crawl + "\x00" + kind + "\x00" + r.Key))
		if s.counting {
			s.newest[id] = s.n
		}
		if s.counting || r.Key != "" && s.newest[id] != s.n {
			return nil
		}
	}
	_, err := s.to.Write(line)
	return err
}
