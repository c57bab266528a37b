package messages

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

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
	// Sitemap says that it is a sitemap, of whatever name: a text there is a list of URLs.
	Sitemap bool `json:"sitemap,omitempty"`
}

// BadURL is a part of a message of SEEDS or URLS that cannot be taken: no seed, or no URL of its partition.
type BadURL struct {
	Line int    // of the message where it begins, from 1
	Text string // what was sent
	Err  error  // what is wrong with it and what to do
}

// DecodeSeeds reads a SEEDS message: plain lines (blank ones and those starting
// with # are skipped), JSON strings or objects, one a line or over several lines, or
// a JSON array of them, in UTF-8. A bad line does not cost the good ones beside it. The URLs
// of the seeds returned are canonical.
func DecodeSeeds(payload []byte) (seeds []Seed, bad []BadURL) {
	text := bytes.TrimLeftFunc(bytes.TrimPrefix(payload, []byte("\ufeff")), unicode.IsSpace)
	first := 1 + bytes.Count(payload[:len(payload)-len(text)], newline)
	text = bytes.TrimSpace(text)
	collect := func(line int, text string, s Seed, err error) {
		if !utf8.ValidString(text) {
			err = cmp.Or(err, errors.New("the text is not UTF-8: convert it, or percent-encode the bytes"))
		}
		if err == nil {
			s, err = s.canonical()
		}
		if err != nil {
			bad = append(bad, BadURL{Line: line, Text: text, Err: err})
			return
		}
		seeds = append(seeds, s)
	}
	switch {
	case len(text) == 0:
		collect(1, "", Seed{}, errors.New("the message is empty: send at least one URL"))
	case isUTF16(payload):
		collect(1, string(payload), Seed{}, errors.New("the message is UTF-16: send UTF-8"))
	case text[0] == '[':
		decodeSeedArray(text, first, collect)
	case startsMultiline(text):
		decodeSeedValues(text, first, collect)
	default:
		decodeSeedLines(text, first, collect)
	}
	return seeds, bad
}

// isUTF16 reports whether a text begins as UTF-16 does: with a byte order mark, or an ASCII character of two bytes.
func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.IndexByte(text[:min(2, len(text))], 0) >= 0
}

// startsMultiline reports whether a text begins with a JSON object that its first line does not end.
func startsMultiline(text []byte) bool {
	line, _, over := bytes.Cut(text, newline)
	if !over || line[0] != '{' {
		return false
	}
	value := json.NewDecoder(bytes.NewReader(line)) //nolint:forbidigo // looks for the end of a value
	return errors.Is(value.Decode(new(json.RawMessage)), io.ErrUnexpectedEOF)
}

// decodeSeedValues reads JSON values of several lines each. If one cannot be read, it and the text behind it are one bad part.
func decodeSeedValues(text []byte, line int, collect collector) {
	values := json.NewDecoder(bytes.NewReader(text)) //nolint:forbidigo // takes the values apart, and reads none
	for at := 0; values.More(); {
		var value json.RawMessage
		if err := values.Decode(&value); err != nil {
			collect(line, string(text[at:]), Seed{}, fmt.Errorf("decode JSON of seeds: %w", err))
			return
		}
		s, err := decodeSeedLine(string(value))
		collect(line, string(value), s, err)
		end := int(values.InputOffset())
		line += bytes.Count(text[at:end], newline)
		at = end
	}
}

var newline = []byte("\n")

// collector takes what a text was read as, which begins in a line of the message.
type collector func(line int, text string, s Seed, err error)

func decodeSeedLines(text []byte, first int, collect collector) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for n := first; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := decodeSeedLine(line)
		collect(n, line, s, err)
	}
}

func decodeSeedArray(text []byte, line int, collect collector) {
	var items []json.RawMessage
	if err := jsontext.Unmarshal(text, &items); err != nil {
		collect(line, string(text), Seed{}, fmt.Errorf("decode JSON array of seeds: %w", err))
		return
	}
	for _, item := range items {
		at := bytes.Index(text, item) // between them are blanks and commas alone
		line += bytes.Count(text[:at], newline)
		s, err := decodeSeedLine(string(item))
		collect(line, string(item), s, err)
		line += bytes.Count(item, newline)
		text = text[at+len(item):]
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
	u, err := weburl.CanonicalizeSeed(s.URL)
	s.URL = u
	return s, err
}
