// Package seeds reads URLs in the forms that users write, evaluates them, and adds them to a crawl
// as seeds.
package seeds

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"seine/pkg/crawlspec"
	"seine/pkg/messages"
)

// Reader reads seeds in the forms that users write: see messages.DecodeSeeds.
type Reader struct {
	Take func(messages.Seed) error // called for each canonical seed
	// Bad is called with each text that is not a seed, and its source.
	Bad func(from, text string, err error)
}

// FormatError is returned if a text as a whole cannot be read as seeds.
type FormatError struct{ err error }

// Error gives the position and the correction.
func (e *FormatError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.err }

// MaxLine bounds a line, in bytes. The longest URL has 2 KiB, but a line may be a JSON array.
const MaxLine = 1 << 20

// Lines reads URLs, one per line, or one JSON array over any number of lines.
func (r *Reader) Lines(name string, in io.Reader) error {
	text := bufio.NewReader(in)
	if first := firstByte(text); first == '[' {
		return r.array(name, text)
	}
	scan := bufio.NewScanner(text)
	scan.Buffer(nil, MaxLine)
	n := 0
	for ; scan.Scan(); n++ {
		if err := r.Add(fmt.Sprintf("%s: line %d", name, n+1), scan.Text()); err != nil {
			return err
		}
	}
	if errors.Is(scan.Err(), bufio.ErrTooLong) {
		return &FormatError{fmt.Errorf("%s: line %d is longer than %s: is it a file of URLs, a line each?", name, n+1, crawlspec.Bytes(MaxLine))}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// firstByte skips a byte order mark and white space, and returns the next byte without consuming
// it, 0 at the end.
func firstByte(r *bufio.Reader) byte {
	if mark, err := r.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = r.Discard(3)
	}
	for {
		next, err := r.Peek(1)
		if err != nil {
			return 0 // the next read returns the error
		}
		if !strings.ContainsRune(" \t\r\n", rune(next[0])) {
			return next[0]
		}
		_, _ = r.Discard(1)
	}
}

// array reads JSON arrays of seeds, and other JSON values after them.
func (r *Reader) array(name string, in io.Reader) error {
	d := json.NewDecoder(in) //nolint:forbidigo // into no struct
	depth := 0
	for {
		if depth == 1 && d.More() {
			var one json.RawMessage
			if err := d.Decode(&one); err != nil {
				return notSeeds(name, d, err)
			}
			if err := r.Add(name, string(one)); err != nil {
				return err
			}
			continue
		}
		switch token, err := d.Token(); {
		case errors.Is(err, io.EOF) && depth == 0:
			return nil
		case err != nil:
			return notSeeds(name, d, err)
		case token == json.Delim('['):
			depth++
		case token == json.Delim(']'):
			depth--
		default:
			return notSeeds(name, d, fmt.Errorf("%v is outside of the array", token))
		}
	}
}

func notSeeds(name string, d *json.Decoder, err error) error {
	return &FormatError{fmt.Errorf("%s: byte %d: no JSON array of seeds: %w", name, d.InputOffset(), err)}
}

// Add reads a line, which may hold several seeds if it is JSON. from is its source for errors.
func (r *Reader) Add(from, line string) error {
	if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
		return nil
	}
	for _, s := range r.Decode(from, line) {
		if err := r.Take(s); err != nil {
			return err
		}
	}
	return nil
}

// Decode returns the seeds of a text, and reports those parts that are not seeds.
func (r *Reader) Decode(from, text string) []messages.Seed {
	seeds, bad := messages.DecodeSeeds([]byte(text))
	for _, b := range bad {
		r.Bad(from, b.Text, b.Err)
	}
	return seeds
}
