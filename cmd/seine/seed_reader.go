package main

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

// seedReader reads seeds as people write them: see messages.DecodeSeeds.
type seedReader struct {
	take func(messages.Seed) error // called for each, canonical
	bad  complaints
}

// maxLine bounds a line of URLs: the longest URL has 2 KiB, but a line may be a
// JSON array.
const maxLine = 1 << 20

// lines reads URLs, a line each, or one JSON array over any number of lines.
func (r *seedReader) lines(name string, in io.Reader) error {
	text := bufio.NewReader(in)
	if first := firstByte(text); first == '[' {
		return r.array(name, text)
	}
	scan := bufio.NewScanner(text)
	scan.Buffer(nil, maxLine)
	n := 0
	for ; scan.Scan(); n++ {
		if err := r.add(fmt.Sprintf("%s: line %d", name, n+1), scan.Text()); err != nil {
			return err
		}
	}
	if errors.Is(scan.Err(), bufio.ErrTooLong) {
		return usageError{fmt.Errorf("%s: line %d is longer than %s: is it a file of URLs, a line each?", name, n+1, crawlspec.Bytes(maxLine))}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// firstByte leaves out a byte order mark and blanks, and returns what comes then,
// 0 at the end.
func firstByte(r *bufio.Reader) byte {
	if mark, err := r.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = r.Discard(3)
	}
	for {
		next, err := r.Peek(1)
		if err != nil {
			return 0 // whoever reads on will find out
		}
		if !strings.ContainsRune(" \t\r\n", rune(next[0])) {
			return next[0]
		}
		_, _ = r.Discard(1)
	}
}

// array reads JSON arrays of seeds, and what else of JSON follows them.
func (r *seedReader) array(name string, in io.Reader) error {
	d := json.NewDecoder(in) //nolint:forbidigo // into no struct
	depth := 0
	for {
		if depth == 1 && d.More() {
			var one json.RawMessage
			if err := d.Decode(&one); err != nil {
				return notSeeds(name, d, err)
			}
			if err := r.add(name, string(one)); err != nil {
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
	return usageError{fmt.Errorf("%s: byte %d: no JSON array of seeds: %w", name, d.InputOffset(), err)}
}

// add takes a line, which may hold several seeds if it is JSON. Where it is from is
// told if it is none.
func (r *seedReader) add(from, line string) error {
	if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
		return nil
	}
	for _, s := range r.decode(from, line) {
		if err := r.take(s); err != nil {
			return err
		}
	}
	return nil
}

// decode returns the seeds of a text, and tells of what is none.
func (r *seedReader) decode(from, text string) []messages.Seed {
	seeds, bad := messages.DecodeSeeds([]byte(text))
	for _, b := range bad {
		r.bad.tell(from, b.Text, b.Err)
	}
	return seeds
}
