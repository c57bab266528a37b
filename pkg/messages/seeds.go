package messages

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"seine/internal/base/jsontext"
	"seine/internal/base/weburl"
)

// Seed is one URL that a person or a program feeds to a crawl.
type Seed struct {
	URL string `json:"url"`
	// Priority from 0 (first) to 9; nil means DefaultPriority.
	Priority *int `json:"priority,omitempty"`
	// Metadata is for the records of its page, and of the page that its redirects lead
	// to. Nil leaves what the URL has, and one without members takes that away.
	Metadata Metadata `json:"metadata,omitzero"`
	// Inherit has what is found from the URL have the metadata, too.
	Inherit bool `json:"inherit,omitempty"`
	// Sitemap says that it is a sitemap, of whatever name: where the spec follows sitemaps, a
	// text there is a list of URLs.
	Sitemap bool `json:"sitemap,omitempty"`
}

// BadSeed is one part of a SEEDS message that is not a seed.
type BadSeed struct {
	Text string // what was sent
	Err  error  // what is wrong with it and what to do
}

// DecodeSeeds reads a SEEDS message: plain lines (blank ones and those starting
// with # are skipped), one JSON string or object, a JSON array of either, or one
// JSON value a line. A bad line does not cost the good ones beside it. The URLs
// of the seeds returned are canonical.
func DecodeSeeds(payload []byte) (seeds []Seed, bad []BadSeed) {
	payload = bytes.TrimSpace(bytes.TrimPrefix(payload, []byte("\ufeff")))
	collect := func(text string, s Seed, err error) {
		if err == nil {
			s, err = s.canonical()
		}
		if err != nil {
			bad = append(bad, BadSeed{Text: text, Err: err})
			return
		}
		seeds = append(seeds, s)
	}
	if len(payload) == 0 {
		collect("", Seed{}, errors.New("the message is empty: send at least one URL"))
		return nil, bad
	}
	if payload[0] == '[' {
		decodeSeedArray(payload, collect)
		return seeds, bad
	}
	if json.Valid(payload) { // one value, perhaps over several lines
		s, err := decodeSeedLine(string(payload))
		collect(string(payload), s, err)
		return seeds, bad
	}
	lines := bufio.NewScanner(bytes.NewReader(payload))
	lines.Buffer(nil, len(payload)+1)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := decodeSeedLine(line)
		collect(line, s, err)
	}
	return seeds, bad
}

func decodeSeedArray(payload []byte, collect func(string, Seed, error)) {
	var items []json.RawMessage
	if err := jsontext.Unmarshal(payload, &items); err != nil {
		collect(string(payload), Seed{}, fmt.Errorf("decode JSON array of seeds: %w", err))
		return
	}
	for _, item := range items {
		s, err := decodeSeedLine(string(item))
		collect(string(item), s, err)
	}
}

func decodeSeedLine(line string) (Seed, error) {
	switch line[0] {
	case '{':
		var s Seed
		if err := jsontext.UnmarshalStrict([]byte(line), &s); err != nil {
			return Seed{}, fmt.Errorf("decode seed: %w", err)
		}
		return s, nil
	case '"':
		var s Seed
		if err := jsontext.Unmarshal([]byte(line), &s.URL); err != nil {
			return Seed{}, fmt.Errorf("decode seed: %w", err)
		}
		return s, nil
	}
	return Seed{URL: line}, nil
}

func (s Seed) canonical() (Seed, error) {
	if s.Priority != nil && (*s.Priority < 0 || *s.Priority > MaxPriority) {
		return s, fmt.Errorf("priority %d: must be from 0 (first) to %d", *s.Priority, MaxPriority)
	}
	if err := s.Metadata.Check(s.Inherit); err != nil {
		return s, err
	}
	u, err := weburl.Canonicalize(s.URL)
	s.URL = u
	return s, err
}
