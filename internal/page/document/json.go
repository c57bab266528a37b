package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"seine/internal/base/humanize"
	"seine/internal/base/jsontext"
	"seine/internal/base/lazyregexp"
	"seine/internal/page/mediatype"
)

// Limits of values, besides MaxTree.
const (
	// MaxData is the maximum length of JSON, NDJSON, CSV or XML, in bytes.
	MaxData = 32 << 20
	// MaxDepth bounds the nesting of values.
	MaxDepth = 1000
	// MaxDigits bounds the digits of a number: arithmetic on longer ones takes quadratic time.
	MaxDigits = 1000
)

// JSON returns the values of a document in the types of jq: nil, bool, string, json.Number (which
// keeps numbers as written), []any and map[string]any. NDJSON is a list of its values. CSV is a
// list of its rows, each an object with the names of the first row. For sitemaps see sitemapValue.
func (d *Document) JSON() (any, error) {
	return d.json.get(func() (any, error) {
		body := d.Body()
		if len(body) > MaxData {
			return nil, fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrTooBig, len(body), MaxData)
		}
		switch d.Type.Class {
		case mediatype.JSON:
			return parseJSON(body)
		case mediatype.NDJSON:
			v, broken, err := parseNDJSON(body)
			d.broken = broken
			return v, err
		case mediatype.CSV:
			v, broken, err := parseCSV(body, d.Type.Media)
			d.broken = broken
			return v, err
		case mediatype.Feed:
			if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '{' {
				return parseJSON(body)
			}
		case mediatype.Sitemap:
			return sitemapValue(d.raw, http.Header(d.Header).Get("Content-Type"))
		default:
		}
		return nil, fmt.Errorf("%w: %s is not JSON", ErrForm, d.Type.Class)
	})
}

// parseJSON parses one value, which may be preceded by a guard.
func parseJSON(body []byte) (any, error) {
	v, rest, err := Value(body)
	if err == nil && afterValue().Match(rest) || errors.Is(err, ErrTooBig) {
		return v, err
	}
	if before := len(guard().Find(body)); before > 0 {
		if v, rest, err := Value(body[before:]); err == nil && afterValue().Match(rest) {
			return v, nil
		}
	}
	return nil, cmp.Or(err, errors.New("read JSON: data after the first value"))
}

var (
	// guard is text before JSON. "for(;;);" prevents other sites from running it as a script, a
	// function call (JSONP) or an assignment makes it one, and some programs print warnings there.
	guard = lazyregexp.New(`^(?:\s*\{\}\s*&&)?[^{\["]*`)
	// afterValue is text after such JSON, such as the end of a call.
	afterValue = lazyregexp.New(`^[^\pL\pN"'{\[&]*$`)
)

// Value parses the first JSON value of b to the types of Document.JSON, and returns the rest of b.
func Value(b []byte) (v any, rest []byte, err error) {
	if err := Bounded(b); err != nil {
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b)) //nolint:forbidigo // not decoded into a struct
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, nil, fmt.Errorf("read JSON: %w", err)
	}
	return v, b[dec.InputOffset():], nil
}

// parseNDJSON returns the values of a text. If some lines are invalid, it returns those of the
// others, and a description of the invalid lines.
func parseNDJSON(body []byte) (rows []any, broken string, err error) {
	rows, err = decodeValues(body)
	if err == nil || errors.Is(err, ErrTooBig) {
		return rows, "", err
	}
	n, bad, first := 0, 0, 0
	for line := range bytes.Lines(body) {
		n++
		values, failed := decodeValues(bytes.Trim(line, betweenLines))
		rows = append(rows, values...)
		if failed != nil {
			bad++
			first = cmp.Or(first, n)
		}
	}
	switch {
	case len(rows) == 0:
		return nil, "", err
	case bad > 0:
		broken = fmt.Sprintf("%v; line %d is the first of %s left out, the others were read", err, first, humanize.Plural(bad, "line"))
	}
	return rows, broken, nil
}

// betweenLines are characters around lines: RFC 7464 begins each line with U+001E, and lists have
// commas.
const betweenLines = " \t\r\n,\x1e\x00\ufeff"

func decodeValues(body []byte) ([]any, error) {
	if err := Bounded(body); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(body)) //nolint:forbidigo // not decoded into a struct
	dec.UseNumber()
	rows := []any{}
	for {
		var v any
		err := dec.Decode(&v)
		if err == io.EOF { //nolint:errorlint // as the decoder documents it
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read NDJSON, value %d: %w", len(rows)+1, err)
		}
		rows = append(rows, v)
	}
}

// Bounded returns an error for JSON text that would take too much memory, that is nested too deep,
// or that has numbers that are too long.
func Bounded(b []byte) error {
	size, err := sizeOfJSON(b)
	if err == nil && size > MaxTree-copiesOfJSON*len(b) {
		return errTree("its JSON")
	}
	return err
}

// sizeOfJSON returns the memory of the values in a JSON text, up to MaxTree. It does not check
// whether the text is valid.
func sizeOfJSON(b []byte) (size int, err error) {
	depth, digits := 0, 0
	empty := false // an object that was just opened
	for i := 0; i < len(b) && size <= MaxTree; i++ {
		c := b[i]
		if digits++; c < '0' || c > '9' {
			digits = 0
		}
		switch c {
		case '{', '[':
			size += sizeMap + sizeElement
			depth++
			empty = c == '{'
		case '}', ']':
			depth--
			empty = false
		case ':':
			if empty {
				size += sizeGroup
			}
			size += sizeMember
			empty = false
		case '"':
			end := jsontext.StringEnd(b, i) - 1
			size += sizeText + end - i
			i = end
		case ',', '\n':
			size += sizeElement
		default:
			if size++; digits == 1 {
				size += sizeText // of a number
			}
		}
		switch {
		case depth > MaxDepth:
			return size, fmt.Errorf("%w: its values are nested more than %d deep", ErrTooBig, MaxDepth)
		case digits > MaxDigits:
			return size, fmt.Errorf("%w: a number has more than %d digits", ErrTooBig, MaxDigits)
		}
	}
	return size, nil
}
