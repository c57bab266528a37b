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

// Seed is one URL that a user or a program submits to a crawl.
type Seed struct {
	URL string `json:"url"`
	// Priority from 0 (first) to 9; nil means DefaultPriority.
	Priority *int `json:"priority,omitempty"`
	// Metadata is copied to the records of its page, and of the page that its redirects lead to.
	// Nil keeps the metadata that the URL has, and an empty one removes it.
	Metadata Metadata `json:"metadata,omitzero"`
	// Inherit passes the metadata on to URLs found from this one.
	Inherit bool `json:"inherit,omitempty"`
	// Sitemap marks the URL as a sitemap, whatever its name: a text file there is a list of URLs.
	Sitemap bool `json:"sitemap,omitempty"`
}

// BadURL is an invalid part of a message of SEEDS or URLS: not a seed, or not a URL of its
// partition.
type BadURL struct {
	Line int    // line of the message where it begins, from 1
	Text string // as received
	Err  error  // the error and the remedy
}

// DecodeSeeds decodes a SEEDS message in UTF-8: plain lines (blank ones and those starting with #
// are skipped), JSON strings or objects, one per line or over several lines, or a JSON array of
// them. An invalid line does not affect the others. The URLs of the returned seeds are canonical.
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

// isUTF16 reports whether a text begins like UTF-16: with a byte order mark, or a two-byte ASCII
// character.
func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.IndexByte(text[:min(2, len(text))], 0) >= 0
}

// startsMultiline reports whether a text begins with a JSON object that does not end on its first
// line.
func startsMultiline(text []byte) bool {
	line, _, over := bytes.Cut(text, newline)
	if !over || line[0] != '{' {
		return false
	}
	value := json.NewDecoder(bytes.NewReader(line)) //nolint:forbidigo // looks for the end of a value
	return errors.Is(value.Decode(new(json.RawMessage)), io.ErrUnexpectedEOF)
}

// decodeSeedValues decodes JSON values of several lines each. If one is invalid, it and all text
// after it are one bad part.
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

// collector receives the seed or error decoded from a text that begins in a line of the message.
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
		at := bytes.Index(text, item) // only blanks and commas are between them
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
